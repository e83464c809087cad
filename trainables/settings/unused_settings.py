"""Which training settings change nothing, and why: one table of conditions. No torch."""

from collections.abc import Callable
from dataclasses import dataclass

from podium.trainables.settings.frozen_feature_rules import FROZEN_FEATURES
from podium.trainables.settings.training_settings import TrainingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a training setting meets; what is not known is taken to use every setting.

    Attributes:
        training: all training settings.
        dataset: label of the data set.
        has_vectors: whether the data set has vectors instead of images.
        has_own_size: whether its images have a size of their own.
        backbone: name of the backbone.
        has_map: whether the backbone has a map of features to pool.
        no_proxies: why settings of the loss's own parameters change nothing; empty if it has some.
    """

    training: TrainingSettings
    dataset: str = ""
    has_vectors: bool = False
    has_own_size: bool = False
    backbone: str = ""
    has_map: bool = True
    no_proxies: str = ""

    @property
    def is_frozen(self) -> bool:
        """Whether features of images are computed once."""
        return self.training.mode == FROZEN_FEATURES and not self.has_vectors


# Names of settings, divided by spaces; whether they change nothing; why, with fields of what they
# meet as ``it``. Of several that hold the first is the reason.
CONDITIONS: tuple[tuple[str, Callable[[Surroundings], bool], str], ...] = (
    (
        "augmentation crop_scale_min evaluation_crop cache loader channels_last pooling",
        lambda it: it.has_vectors,
        "there are no images",
    ),
    (
        "augmentation crop_scale_min",
        lambda it: it.is_frozen,
        "features are computed once, of images as they are evaluated",
    ),
    (
        "warm_up_epochs batch_norm",
        lambda it: it.is_frozen,
        "the backbone is frozen, in its evaluation mode",
    ),
    ("micro_batch_size", lambda it: it.is_frozen, "features of a batch always fit"),
    (
        "cache loader evaluation_crop",
        lambda it: it.has_own_size,
        "the images of {it.dataset} have a size of their own",
    ),
    ("pooling", lambda it: not it.has_map, "{it.backbone} has no map of features to pool"),
    (
        "proxy_learning_rate proxy_weight_decay",
        lambda it: bool(it.no_proxies),
        "{it.no_proxies}",
    ),
    (
        "clip_value clipped",
        lambda it: (
            bool(it.no_proxies) and it.training.clip_value > 0 and it.training.clipped == "loss"
        ),
        "{it.no_proxies}",
    ),
    (
        "precision warm_up_epochs batch_norm",
        lambda it: it.backbone == "identity",  # which has no weights
        "{it.backbone} passes vectors on as they are",
    ),
    (
        "micro_batch_size",
        lambda it: it.training.micro_batch_size >= it.training.batch_size,
        "a batch has {it.training.batch_size} images",
    ),
    (
        "samples_per_class",
        lambda it: not it.training.is_balanced,
        "the sampler is {it.training.sampler}",
    ),
    (
        "adam_epsilon",
        lambda it: it.training.optimiser not in ("adamw", "adam"),
        "the optimiser is {it.training.optimiser}",
    ),
    (
        "momentum",
        lambda it: it.training.optimiser not in ("rmsprop", "sgd"),
        "the optimiser is {it.training.optimiser}",
    ),
    (
        "step_factor",
        lambda it: it.training.step_epochs == 0,
        "step_epochs is 0, so learning rates stay constant",
    ),
    (
        "step_epochs",
        lambda it: 0 < it.training.step_epochs >= it.training.epochs,  # after whole epochs
        "training ends after {it.training.epochs} epochs, before learning rates step down",
    ),
    (
        "clipped",
        lambda it: it.training.clip_value <= 0.0,
        "clip_value is 0, so no gradient is clipped",
    ),
    (
        "crop_scale_min",
        lambda it: it.training.augmentation != "random_resized_crop",
        "augmentation {it.training.augmentation} takes no random crops",
    ),
)


def why_unused_setting(name: str, it: Surroundings) -> str | None:
    """Why a training setting changes nothing, in words; None if it changes something.

    Args:
        name: name of the setting.
        it: what the setting meets.
    """
    for names, holds, reason in CONDITIONS:
        if name in names.split() and holds(it):
            return reason.format(it=it)
    return None
