"""What goes with feature vectors instead of images, and what is then ignored. No torch."""

from collections.abc import Collection, Mapping
from types import MappingProxyType

FROZEN_FEATURES = "frozen_features"

_NO_IMAGES = "there are no images"
_ONCE = "features are computed once, of images as they are evaluated"
_RESTS = "the backbone rests, in its evaluation mode"

# Name of a training setting -> why it changes nothing.
_IGNORED_WITH_FROZEN = MappingProxyType(
    {
        "augmentation": _ONCE,
        "crop_scale_min": _ONCE,
        "warm_up_epochs": _RESTS,
        "batch_norm": _RESTS,
        "micro_batch_size": "features of a batch always fit",
    }
)
_IGNORED_WITH_VECTORS = MappingProxyType(
    dict.fromkeys(
        (
            "augmentation",
            "crop_scale_min",
            "evaluation_crop",
            "cache",
            "loader",
            "channels_last",
            "pooling",
        ),
        _NO_IMAGES,
    )
)


def unused_training_settings(mode: str, *, has_vectors: bool) -> Mapping[str, str]:
    """Training settings that change nothing, and why: ``{"batch_norm": "the backbone rests"}``.

    Args:
        mode: ``fine_tune`` or ``frozen_features``.
        has_vectors: whether the data set has vectors instead of images.
    """
    if has_vectors:
        return _IGNORED_WITH_VECTORS
    return _IGNORED_WITH_FROZEN if mode == FROZEN_FEATURES else {}


def input_problem(
    *,
    dataset: str,
    num_features: int | None,
    backbone: str,
    takes_features: bool,
    mode: str,
    image_size: int | None,
) -> str | None:
    """Why a backbone and a mode do not go with what a data set has; None if they do.

    Args:
        dataset: label of the data set.
        num_features: length of the data set's vectors, None if it has images.
        backbone: name of the backbone.
        takes_features: whether the backbone takes vectors.
        mode: ``fine_tune`` or ``frozen_features``.
        image_size: side of the network's input in pixels; None if none is given.
    """
    if num_features is None:
        if takes_features:
            return f"{backbone} takes vectors, but {dataset} has images"
        return None
    vectors = f"{dataset} has vectors of {num_features} features"
    if not takes_features:
        return f"{backbone} takes images, but {vectors}"
    if mode == FROZEN_FEATURES:
        return f"mode {FROZEN_FEATURES} is for images, but {vectors} already"
    if image_size is not None:
        return f"image_size must be null, since {vectors}; got {image_size}"
    return None


def mode_problem(mode: str, loss: str, needs: Collection[str], *, has_vectors: bool) -> str | None:
    """Why a loss cannot be trained in a mode; None if it can.

    Args:
        mode: ``fine_tune`` or ``frozen_features``.
        loss: name of the loss, as in a study.
        needs: what the loss needs.
        has_vectors: whether the data set has vectors instead of images.
    """
    if "several_views" in needs and (has_vectors or mode == FROZEN_FEATURES):
        return (
            f"{loss} compares several augmented views of an image, but there is one vector of "
            "features for each"
        )
    return None
