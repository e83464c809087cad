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
        loss: name of the loss in a study.
        has_proxies: whether the loss has parameters of its own.
        proxies_if: when it has them, in words; empty if it always or never has.
    """

    training: TrainingSettings
    dataset: str = ""
    has_vectors: bool = False
    has_own_size: bool = False
    backbone: str = ""
    has_map: bool = True
    loss: str = ""
    has_proxies: bool = True
    proxies_if: str = ""

    @property
    def is_frozen(self) -> bool:
        """Whether features of images are computed once."""
        return self.training.mode == FROZEN_FEATURES and not self.has_vectors

    @property
    def why_no_proxies(self) -> str:
        """Why settings of proxies change nothing, where the loss has none."""
        if self.proxies_if:
            return f"{self.loss} trains parameters of its own only if {self.proxies_if}"
        return f"{self.loss} has no proxies"


@dataclass(frozen=True, slots=True)
class Condition:
    """When settings change nothing.

    Attributes:
        names: names of the settings, divided by spaces.
        holds: whether they change nothing.
        reason: why, with fields of what they meet as ``it``.
    """

    names: str
    holds: Callable[[Surroundings], bool]
    reason: str


CONDITIONS = (  # of several that hold the first is the reason
    Condition(
        "augmentation crop_scale_min evaluation_crop cache loader channels_last pooling",
        lambda it: it.has_vectors,
        "there are no images",
    ),
    Condition(
        "augmentation crop_scale_min",
        lambda it: it.is_frozen,
        "features are computed once, of images as they are evaluated",
    ),
    Condition(
        "warm_up_epochs batch_norm",
        lambda it: it.is_frozen,
        "the backbone is frozen, in its evaluation mode",
    ),
    Condition("micro_batch_size", lambda it: it.is_frozen, "features of a batch always fit"),
    Condition(
        "cache loader evaluation_crop",
        lambda it: it.has_own_size,
        "the images of {it.dataset} have a size of their own",
    ),
    Condition(
        "pooling", lambda it: not it.has_map, "{it.backbone} has no map of features to pool"
    ),
    Condition(
        "proxy_learning_rate proxy_weight_decay",
        lambda it: not it.has_proxies,
        "{it.why_no_proxies}",
    ),
    Condition(
        "clip_value clipped",
        lambda it: (
            not it.has_proxies and it.training.clip_value > 0 and it.training.clipped == "loss"
        ),
        "{it.why_no_proxies}",
    ),
    Condition(
        "precision warm_up_epochs batch_norm",
        lambda it: it.backbone == "identity",  # which has no weights
        "{it.backbone} passes vectors on as they are",
    ),
    Condition(
        "micro_batch_size",
        lambda it: it.training.micro_batch_size >= it.training.batch_size,
        "a batch has {it.training.batch_size} images",
    ),
    Condition(
        "samples_per_class",
        lambda it: not it.training.is_balanced,
        "the sampler is {it.training.sampler}",
    ),
    Condition(
        "adam_epsilon",
        lambda it: it.training.optimiser not in ("adamw", "adam"),
        "the optimiser is {it.training.optimiser}",
    ),
    Condition(
        "momentum",
        lambda it: it.training.optimiser not in ("rmsprop", "sgd"),
        "the optimiser is {it.training.optimiser}",
    ),
    Condition(
        "step_factor",
        lambda it: it.training.step_epochs == 0,
        "step_epochs is 0, so learning rates stay constant",
    ),
    Condition(
        "step_epochs",
        lambda it: 0 < it.training.step_epochs >= it.training.epochs,  # after whole epochs
        "training ends after {it.training.epochs} epochs, before learning rates step down",
    ),
    Condition(
        "clipped",
        lambda it: it.training.clip_value <= 0.0,
        "clip_value is 0, so no gradient is clipped",
    ),
    Condition(
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
    for condition in CONDITIONS:
        if name in condition.names.split() and condition.holds(it):
            return condition.reason.format(it=it)
    return None
