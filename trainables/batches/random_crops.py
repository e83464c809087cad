"""Which part of an image the network sees: at random while it trains, the centre otherwise.

B = images of a batch, T = attempts, A = numbers that a crop is drawn by. A size is (height,
width), a box (top, left, height, width), in pixels. Without torch: boxes are the same wherever
the images are cut.
"""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

_NUM_TRIES = 10
_RATIO_MIN, _RATIO_MAX = 3 / 4, 4 / 3  # width over height


# Drawn for each image: areas and aspect ratios of its tries, its corner, whether it is flipped.
_DRAWN = (_NUM_TRIES, _NUM_TRIES, 2, 1)

Draws = npt.NDArray[np.float64]
Sizes = npt.NDArray[np.int64]
Crop = Callable[[Draws, Sizes], Sizes]
"""From what was drawn and the sizes of images to the boxes that are seen."""


def draw_crops(batch_size: int, generator: np.random.Generator) -> Draws:
    """Chance of the crops of images, drawn before their sizes are known: in [0, 1), (B, A)."""
    return np.concatenate([generator.random((batch_size, count)) for count in _DRAWN], axis=1)


def are_flipped(draws_BA: Draws) -> npt.NDArray[np.bool_]:
    """Whether left and right change places, shape (B,)."""
    return draws_BA[:, -1] < 0.5


def crop_boxes(
    draws_BA: Draws, sizes_B2: npt.NDArray[np.int64], scale_min: float
) -> npt.NDArray[np.int64]:
    """Boxes of shape (B, 4), distributed as those of torchvision's ``RandomResizedCrop``.

    An attempt takes a part of the image's area, uniform in [``scale_min``, 1], at an aspect ratio
    whose logarithm is uniform between 3:4 and 4:3. The first of ten attempts that lies within the
    image counts, at a uniform position. If none does, it is the largest box around the centre
    whose ratio is allowed.

    Args:
        draws_BA: what `draw_crops` drew for the images.
        sizes_B2: heights and widths of the images, at least 1.
        scale_min: in (0, 1].
    """
    shares_BT, places_BT, chances_B2, _ = np.split(draws_BA, np.cumsum(_DRAWN)[:-1], axis=1)
    areas_BT = sizes_B2.prod(axis=1)[:, None] * (scale_min + (1 - scale_min) * shares_BT)
    logarithm_min, logarithm_max = math.log(_RATIO_MIN), math.log(_RATIO_MAX)
    ratios_BT = np.exp(logarithm_min + (logarithm_max - logarithm_min) * places_BT)
    tries_BT2 = np.rint(np.sqrt(np.stack([areas_BT / ratios_BT, areas_BT * ratios_BT], axis=2)))
    fits_BT2 = (tries_BT2 > 0) & (tries_BT2 <= sizes_B2[:, None])
    holds_BT = np.logical_and(fits_BT2[..., 0], fits_BT2[..., 1])
    first_B = holds_BT.argmax(axis=1)
    boxes_B2 = tries_BT2[np.arange(len(first_B)), first_B].astype(np.int64)
    corners_B2 = np.floor(chances_B2 * (sizes_B2 - boxes_B2 + 1)).astype(np.int64)
    random_B4 = np.concatenate([corners_B2, boxes_B2], axis=1)
    holds_B1 = holds_BT.any(axis=1, keepdims=True)
    return np.where(holds_B1, random_B4, _largest_centred(sizes_B2))


def square_boxes(
    draws_BA: Draws, sizes_B2: npt.NDArray[np.int64], share: float
) -> npt.NDArray[np.int64]:
    """Squares at a uniform position, shape (B, 4): resize, then torchvision's ``RandomCrop``.

    Args:
        draws_BA: what `draw_crops` drew for the images.
        sizes_B2: heights and widths of the images, at least 1.
        share: their side over the shorter side of the image, in (0, 1].
    """
    sides_B1 = np.rint(share * sizes_B2.min(axis=1, keepdims=True)).astype(np.int64).clip(1)
    chances_B2 = draws_BA[:, 2 * _NUM_TRIES :][:, :2]
    corners_B2 = np.floor(chances_B2 * (sizes_B2 - sides_B1 + 1)).astype(np.int64)
    return np.concatenate([corners_B2, sides_B1, sides_B1], axis=1)


def _largest_centred(sizes_B2: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    heights_B, widths_B = sizes_B2.T
    heights_B = np.minimum(heights_B, np.rint(widths_B / _RATIO_MIN).astype(np.int64))
    widths_B = np.minimum(widths_B, np.rint(heights_B * _RATIO_MAX).astype(np.int64))
    boxes_B2 = np.stack([heights_B, widths_B], axis=1)
    return np.concatenate([(sizes_B2 - boxes_B2) // 2, boxes_B2], axis=1)


def centre_boxes(sizes_B2: npt.NDArray[np.int64], side: int) -> npt.NDArray[np.int64]:
    """Square boxes around the centre, placed as by torchvision's ``CenterCrop``; shape (B, 4).

    Args:
        sizes_B2: heights and widths of the images, at least ``side``.
        side: side of the boxes in pixels.
    """
    corners_B2 = np.rint((sizes_B2 - side) / 2).astype(np.int64)
    return np.concatenate([corners_B2, np.full_like(corners_B2, side)], axis=1)
