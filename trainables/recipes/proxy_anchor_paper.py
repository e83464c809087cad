"""Kim et al. 2020, Proxy Anchor Loss, by the commands of the authors' README and train.py.

https://github.com/tjddus9597/Proxy-Anchor-CVPR2020. The README's numbers are better than the
paper's, because of the batch size, as it says itself.
"""

from podium.trainables.recipes._base import ANY, ON_GLYPHS, PROXY_LOSSES, Recipe, Values
from podium.trainables.settings.training_settings import TrainingSettings

_LARGE: Values = {
    "learning_rate": 6e-4,  # README: --lr
    "proxy_learning_rate": 6e-2,  # train.py: 100 times --lr
    "step_epochs": 20,  # README: --lr-decay-step
    "step_factor": 0.25,  # README: --lr-decay-gamma
    "batch_norm": "train",  # README: --bn-freeze 0
}
_LARGE_RESNET50: Values = {"step_epochs": 10}  # our guess: half, as on the other data sets

PROXY_ANCHOR_PAPER = Recipe(
    base=TrainingSettings(
        recipe="proxy_anchor_paper",
        epochs=60,  # train.py: the default
        batch_size=180,  # README: --batch-size
        sampler="balanced",  # our guess for losses on pairs, which the README does not train
        samples_per_class=5,  # the same
        optimiser="adamw",  # train.py
        learning_rate=1e-4,  # README: --lr
        head_learning_rate_factor=1.0,  # train.py
        proxy_learning_rate=1e-2,  # train.py: 100 times --lr
        weight_decay=1e-4,  # train.py
        proxy_weight_decay=1e-4,  # train.py: one number for all groups
        step_epochs=10,  # README: --lr-decay-step
        step_factor=0.5,  # train.py: the default
        warm_up_epochs=1,  # README: --warm
        batch_norm="frozen_statistics",  # README: --bn-freeze 1
        clip_value=10.0,  # train.py
        clipped="all",  # train.py: the network always, the proxies of this loss
        augmentation="random_resized_crop",  # dataset/utils.py
        crop_scale_min=0.08,
        evaluation_crop=224 / 256,  # dataset/utils.py
        pooling="average+max",  # net
        head_init="kaiming",  # net
    ),
    image_size=224,
    rows={
        **ON_GLYPHS,
        (ANY, "resnet50"): {"batch_size": 120, "warm_up_epochs": 5},  # README
        ("cub200", "resnet50"): {"step_epochs": 5},  # README
        ("cars196", ANY): {"step_epochs": 20},  # README
        ("cars196", "resnet50"): {"step_epochs": 10},  # README
        ("sop", ANY): _LARGE,
        ("sop", "resnet50"): _LARGE_RESNET50,
        ("in_shop", ANY): _LARGE,
        ("in_shop", "resnet50"): _LARGE_RESNET50,
    },
    losses={
        **{loss: {"sampler": "random"} for loss in PROXY_LOSSES},  # train.py: without --IPC
        "proxy_anchor": {"margin": 0.1, "alpha": 32.0, "sampler": "random"},  # train.py
    },
    reasons={
        "sampler": "train.py draws batches at random for losses with proxies; balanced batches "
        "for losses on pairs, which need them, are our guess",
    },
)
