"""Psomas 2020, Metric Learning: A Deep Dive, as its text has it.

Its training follows the Proxy-Anchor authors' code, which says what the text leaves open.
"""

from podium.trainables.recipes._base import ANY, ON_GLYPHS, PROXY_LOSSES, Recipe, Values
from podium.trainables.settings.training_settings import TrainingSettings

# The code freezes no BatchNorm on large data sets, and scales the proxies' learning rate with the
# network's: 100 times (Proxy-Anchor, train.py).
_LARGE: Values = {
    "learning_rate": 6e-4,  # table 3
    "proxy_learning_rate": 6e-2,
    "step_epochs": 20,  # table 3
    "step_factor": 0.25,  # table 3
    "batch_norm": "train",
}
_LARGE_RESNET50: Values = {"step_epochs": 10}  # table 3

PSOMAS2020 = Recipe(
    base=TrainingSettings(
        recipe="psomas2020",
        epochs=100,  # section 3.4
        batch_size=180,  # section 3.4: all but ResNet50
        sampler="balanced",
        samples_per_class=5,  # text; of the losses on pairs and tuples
        optimiser="adamw",  # Proxy-Anchor, train.py
        learning_rate=1e-4,  # table 3: all but SOP
        head_learning_rate_factor=1.0,  # Proxy-Anchor, train.py
        proxy_learning_rate=1e-2,  # Proxy-Anchor, train.py: 100 times the network's
        weight_decay=1e-4,  # Proxy-Anchor, train.py
        proxy_weight_decay=1e-4,  # the same: one number for all groups
        step_epochs=10,  # table 3: BN-Inception and GoogLeNet on CUB, ResNet50 on CARS
        step_factor=0.1,  # table 3: all but SOP
        # None is named, and its epochs would count in the steps: ResNet50 on CUB has five each.
        warm_up_epochs=0,
        batch_norm="frozen_statistics",  # Proxy-Anchor, train.py; the text is silent
        clip_value=10.0,  # Proxy-Anchor, train.py
        clipped="all",
        augmentation="random_resized_crop",  # Proxy-Anchor, dataset/utils.py
        crop_scale_min=0.08,
        evaluation_crop=224 / 256,  # Proxy-Anchor, dataset/utils.py
        pooling="average+max",  # Proxy-Anchor, net
        head_init="kaiming",  # Proxy-Anchor, net
    ),
    image_size=224,
    rows={
        **ON_GLYPHS,
        (ANY, "resnet50"): {"batch_size": 100},  # section 3.4
        ("cub200", "resnet50"): {"step_epochs": 5},  # table 3
        ("cars196", ANY): {"step_epochs": 20},  # table 3
        ("cars196", "resnet50"): {"step_epochs": 10},  # table 3
        ("sop", ANY): _LARGE,
        ("sop", "resnet50"): _LARGE_RESNET50,
        # Not in the thesis: Proxy-Anchor's README trains both alike.
        ("in_shop", ANY): _LARGE,
        ("in_shop", "resnet50"): _LARGE_RESNET50,
    },
    # Table 4 for values, table 5 for miners; all losses with proxies draw batches at random.
    losses={
        **{loss: {"sampler": "random"} for loss in PROXY_LOSSES},
        "contrastive": {"margin": 0.5},
        "triplet": {"margin": 0.1, "miner": "semihard_hardest"},
        # Table 5: hard pairs; the slack is that of the code.
        "lifted_structure": {"margin": 0.5, "epsilon": 0.1},
        "n_pair": {"norm_weight": 0.02},
        "proxy_nca": {
            "scale": 0.5,  # equation 2.27: cosines in place of squared distances
            "proxy_learning_rate": 1e-5,
            "sampler": "random",
        },
        "margin": {
            "margin": 0.5,
            "beta": 1.2,
            "proxy_learning_rate": 5e-5,  # of beta
            "miner": "distance_weighted",
        },
        "margin_cosine": {"proxy_learning_rate": 5e-5},  # of beta, as of margin
        "arcface": {
            "margin_degrees": 28.6,
            "scale": 64.0,
            "proxy_learning_rate": 1e-4,
            "sampler": "random",
        },
        "multi_similarity": {"margin": 0.5, "alpha": 2.0, "beta": 50.0, "epsilon": 0.1},
        "soft_triple": {
            "margin": 0.1,
            "scale": 20.0,
            "gamma": 10.0,
            "tau": 0.2,
            "proxy_learning_rate": 1e-4,
            "sampler": "random",
        },
        "proxy_anchor": {"margin": 0.1, "alpha": 32.0, "sampler": "random"},
    },
    reasons={
        "sampler": "losses with proxies draw batches at random, as in Proxy-Anchor's train.py; "
        "losses on pairs need several images of a class, five in the thesis",
        "proxy_learning_rate": "each loss has its own in the thesis's table 4",
    },
)
