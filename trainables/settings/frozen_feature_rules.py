"""What goes with feature vectors instead of images. No torch."""

from collections.abc import Collection

FROZEN_FEATURES = "frozen_features"


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

    A data set of images has no number of features. The image size, in pixels, may be left open.
    """
    if num_features is None:
        return f"{backbone} takes vectors, but {dataset} has images" if takes_features else None
    vectors = f"{dataset} has vectors of {num_features} features"
    if not takes_features:
        return f"{backbone} takes images, but {vectors}"
    if mode == FROZEN_FEATURES:
        return f"mode {FROZEN_FEATURES} is for images, but {vectors} already"
    if image_size is not None:
        return f"image_size must be null, since {vectors}; got {image_size}"
    return None


def mode_problem(mode: str, loss: str, needs: Collection[str], *, has_vectors: bool) -> str | None:
    """Why a loss of these needs cannot be trained in a mode; None if it can."""
    if "several_views" in needs and (has_vectors or mode == FROZEN_FEATURES):
        return (
            f"{loss} compares several augmented views of an image, but there is one vector of "
            "features for each"
        )
    return None
