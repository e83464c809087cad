"""Musgrave et al. 2020, A Metric Learning Reality Check, by powerful-benchmarker's configuration.

https://github.com/KevinMusgrave/powerful-benchmarker, branch metric-learning. The values of losses
are the best of its searches, from docs/papers/mlrc.md, and so another kind of number than a
published default. Left out are contrastive and triplet, whose distances are not squared there.

Not reproduced: it stops after 9 epochs (of 100 steps) without progress, and joins the embeddings
of four folds.
"""

from collections.abc import Mapping

from trainables.recipes._base import ON_GLYPHS, Recipe, Values
from trainables.settings.training_settings import TrainingSettings

# A temperature there is 1 / scale here. SoftTriple's gamma is the inverse of podium's multiplier.
# Their Proxy-NCA has the positive proxy in its denominator: podium's proxy_nca_pp. Their margin
# loss is the one with a beta for each class, trained without decay of beta.
_CUB: Mapping[str, Values] = {
    "proxy_nca_pp": {"scale": 13.98, "proxy_learning_rate": 6.04e-3},
    "margin": {
        "margin": 0.0779,
        "beta": 0.9796,
        "proxy_learning_rate": 2.65e-4,
        "proxy_weight_decay": 0.0,
    },
    "normalized_softmax": {"scale": 1 / 0.1087, "proxy_learning_rate": 4.46e-3},
    "cosface": {"margin": 0.6182, "scale": 100.0, "proxy_learning_rate": 2.53e-3},
    "arcface": {"margin_degrees": 23.22, "scale": 100.0, "proxy_learning_rate": 5.13e-3},
    "fast_ap": {"bins": 17},
    "multi_similarity": {"alpha": 17.97, "beta": 75.66, "margin": 0.77, "epsilon": 0.39},
    "soft_triple": {
        "scale": 78.02,
        "gamma": 1 / 58.95,
        "tau": 0.3754,
        "margin": 0.4307,
        "proxy_learning_rate": 5.37e-5,
    },
}

_CARS: Mapping[str, Values] = {
    "proxy_nca_pp": {"scale": 7.97, "proxy_learning_rate": 4.43e-3},
    "margin": {
        "margin": 0.0776,
        "beta": 0.9598,
        "proxy_learning_rate": 4.76e-5,
        "proxy_weight_decay": 0.0,
    },
    "normalized_softmax": {"scale": 1 / 0.0886, "proxy_learning_rate": 1.10e-2},
    "cosface": {"margin": 0.4324, "scale": 161.5, "proxy_learning_rate": 7.41e-3},
    "arcface": {"margin_degrees": 20.52, "scale": 49.50, "proxy_learning_rate": 7.39e-6},
    "fast_ap": {"bins": 27},
    "multi_similarity": {"alpha": 7.49, "beta": 47.99, "margin": 0.63, "epsilon": 0.72},
    "soft_triple": {
        "scale": 17.69,
        "gamma": 1 / 19.18,
        "tau": 0.0669,
        "margin": 0.3588,
        "proxy_learning_rate": 1.40e-4,
    },
}

_SOP: Mapping[str, Values] = {
    "proxy_nca_pp": {"scale": 10.73, "proxy_learning_rate": 5.28e-4},
    "margin": {
        "margin": 0.0518,
        "beta": 0.8424,
        "proxy_learning_rate": 7.10e-5,
        "proxy_weight_decay": 0.0,
    },
    "normalized_softmax": {"scale": 1 / 0.0630, "proxy_learning_rate": 5.46e-4},
    "cosface": {"margin": 0.3364, "scale": 100.0, "proxy_learning_rate": 2.16e-3},
    "arcface": {"margin_degrees": 18.63, "scale": 220.3, "proxy_learning_rate": 2.01e-3},
    "fast_ap": {"bins": 16},
    "multi_similarity": {"alpha": 15.94, "beta": 156.61, "margin": 0.72, "epsilon": 0.34},
    "soft_triple": {
        "scale": 100.00,
        "gamma": 1 / 47.90,
        "tau": 0.0,  # our reading of "N/A"
        "margin": 0.3145,
        "proxy_learning_rate": 8.68e-5,
    },
}

REALITY_CHECK = Recipe(
    base=TrainingSettings(
        recipe="reality_check",
        epochs=100,  # our guess: there it is a patience
        batch_size=32,  # config_general
        sampler="balanced",
        samples_per_class=4,  # paper: 8 classes of 4 images
        optimiser="rmsprop",  # config_optimizers
        momentum=0.9,  # config_optimizers
        learning_rate=1e-6,  # config_optimizers
        proxy_learning_rate=1e-3,  # our guess: each loss has its own, searched from 1e-6 to 1
        weight_decay=1e-4,  # config_optimizers
        proxy_weight_decay=1e-4,  # config_optimizers, metric_loss_optimizer
        batch_norm="frozen_statistics",  # config_general: freeze_trunk_batchnorm sets it to eval
        augmentation="random_resized_crop",  # config_transforms
        crop_scale_min=0.16,  # config_transforms
        evaluation_crop=227 / 256,  # config_transforms
        pooling="average",  # of pretrained-models' bninception
        head_init="uniform",  # config_models: one linear layer
    ),
    image_size=227,  # config_transforms
    rows=ON_GLYPHS,
    losses_on={"cub200": _CUB, "cars196": _CARS, "sop": _SOP},
    reasons={
        "proxy_learning_rate": "the best of the authors' searches for each loss and data set",
        "proxy_weight_decay": "the authors train the margin loss's beta without decay",
    },
)
