"""Musgrave et al. 2020, A Metric Learning Reality Check, by powerful-benchmarker's configuration.

https://github.com/KevinMusgrave/powerful-benchmarker, branch metric-learning. The values of losses
are the best of its searches, from docs/papers/mlrc.md, and so another kind of number than a
published default. Left out are contrastive and triplet, whose distances are not squared there.

Not reproduced: it stops after 9 epochs (of 100 steps) without progress, and joins the embeddings
of four folds.
"""

from collections.abc import Mapping

from podium.trainables.recipes._base import ON_GLYPHS, Recipe
from podium.trainables.settings.training_settings import TrainingSettings

_DATASETS = ("cub200", "cars196", "sop")

# A temperature there is 1 / scale here. SoftTriple's gamma is the inverse of podium's multiplier.
# Their Proxy-NCA has the positive proxy in its denominator: podium's proxy_nca_pp. Their margin
# loss is the one with a beta for each class, trained without decay of beta.
_BEST: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "proxy_nca_pp": {
        "scale": (13.98, 7.97, 10.73),
        "proxy_learning_rate": (6.04e-3, 4.43e-3, 5.28e-4),
    },
    "margin": {
        "margin": (0.0779, 0.0776, 0.0518),
        "beta": (0.9796, 0.9598, 0.8424),
        "proxy_learning_rate": (2.65e-4, 4.76e-5, 7.10e-5),
        "proxy_weight_decay": (0.0, 0.0, 0.0),
    },
    "normalized_softmax": {
        "scale": (1 / 0.1087, 1 / 0.0886, 1 / 0.0630),
        "proxy_learning_rate": (4.46e-3, 1.10e-2, 5.46e-4),
    },
    "cosface": {
        "margin": (0.6182, 0.4324, 0.3364),
        "scale": (100.0, 161.5, 100.0),
        "proxy_learning_rate": (2.53e-3, 7.41e-3, 2.16e-3),
    },
    "arcface": {
        "margin_degrees": (23.22, 20.52, 18.63),
        "scale": (100.0, 49.50, 220.3),
        "proxy_learning_rate": (5.13e-3, 7.39e-6, 2.01e-3),
    },
    "fast_ap": {"bins": (17, 27, 16)},
    "multi_similarity": {
        "alpha": (17.97, 7.49, 15.94),
        "beta": (75.66, 47.99, 156.61),
        "margin": (0.77, 0.63, 0.72),
        "epsilon": (0.39, 0.72, 0.34),
    },
    "soft_triple": {
        "scale": (78.02, 17.69, 100.00),
        "gamma": (1 / 58.95, 1 / 19.18, 1 / 47.90),
        "tau": (0.3754, 0.0669, 0.0),  # of sop, our reading of "N/A"
        "margin": (0.4307, 0.3588, 0.3145),
        "proxy_learning_rate": (5.37e-5, 1.40e-4, 8.68e-5),
    },
}
"""Loss -> setting -> its values on the data sets above."""

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
    losses_on={
        dataset: {
            loss: {name: values[column] for name, values in settings.items()}
            for loss, settings in _BEST.items()
        }
        for column, dataset in enumerate(_DATASETS)
    },
    reasons={
        "proxy_learning_rate": "the best of the authors' searches for each loss and data set",
        "proxy_weight_decay": "the authors train the margin loss's beta without decay",
    },
)
