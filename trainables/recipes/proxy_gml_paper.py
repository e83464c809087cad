"""Zhu et al. 2020, Fewer is More (ProxyGML), by the authors' README and train.py.

https://github.com/YuehuaZhu/ProxyGML. Its warm-up freezes the backbone after the first epoch for
the second one; meant, by its comment, is the first, which podium does. Its learning rates fall
from the 20th and 40th epoch on, podium's after them.
"""

from podium.trainables.recipes._base import ANY, ON_GLYPHS, PROXY_LOSSES, Recipe
from podium.trainables.settings.training_settings import TrainingSettings

_SOP = {"subproxies": 1, "ratio": 0.05, "regulariser": 0.0, "proxy_learning_rate": 0.3}

PROXY_GML_PAPER = Recipe(
    base=TrainingSettings(
        recipe="proxy_gml_paper",
        epochs=50,  # README: --epochs
        batch_size=32,  # README: -b
        sampler="balanced",  # our guess for losses on pairs, which the authors do not train
        samples_per_class=4,  # the same
        optimiser="adam",  # train.py
        adam_epsilon=0.01,  # train.py: --eps
        learning_rate=1e-4,  # train.py: --modellr
        proxy_learning_rate=3e-2,  # README: --centerlr
        weight_decay=1e-4,  # train.py
        proxy_weight_decay=1e-4,  # train.py: one number for both groups
        step_epochs=20,  # README: --new_epoch_to_decay 20 40
        step_factor=0.1,  # README: --rate
        warm_up_epochs=1,  # train.py: --warm
        batch_norm="frozen_statistics",  # README: --freeze_BN
        augmentation="random_resized_crop",  # train.py
        crop_scale_min=0.08,
        evaluation_crop=224 / 256,  # train.py
        pooling="average+max",  # our guess: the network is not in the repository
        head_init="kaiming",  # the same
    ),
    image_size=224,
    rows={
        **ON_GLYPHS,
        ("sop", ANY): {"proxy_learning_rate": 0.3, "batch_norm": "train"},
    },  # README
    losses={
        **{loss: {"sampler": "random"} for loss in PROXY_LOSSES},  # train.py: shuffled
        "proxy_gml": {
            "subproxies": 12,  # README: --N
            "ratio": 0.05,  # README: --r
            "regulariser": 0.3,  # README: --weight_lambda
            "proxy_learning_rate": 3e-2,  # README: --centerlr
            "sampler": "random",
        },
    },
    losses_on={"sop": {"proxy_gml": _SOP}},  # README
    reasons={
        "sampler": "train.py draws batches at random for its loss with proxies; balanced batches "
        "for losses on pairs, which need them, are our guess",
    },
)
