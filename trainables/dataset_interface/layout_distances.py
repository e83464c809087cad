"""Distances between layouts: maps of the class at each pixel, such as the walls of a room.

N = layouts, H, W = height and width, P = pixels, R = layouts of a block.
"""

import numpy as np
import numpy.typing as npt

from podium.trainables.errors import TrialInputError

_CHUNK_ROWS = 512


def layout_distances(layouts_NHW: npt.NDArray[np.generic]) -> npt.NDArray[np.float32]:
    """1 - mean IoU of every two layouts: shape (N, N), from 0 for equal ones to 1.

    The mean is over the classes that are in either layout, each with the pixels that both give it
    over the pixels that one of them gives it. A class that is in neither does not count.

    Source: Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision, of room layouts.

    Args:
        layouts_NHW: whole numbers, the class at each pixel; of one size.

    Raises:
        TrialInputError: the array does not hold layouts.
    """
    layouts_NHW = np.asarray(layouts_NHW)
    if layouts_NHW.ndim != 3 or 0 in layouts_NHW.shape:
        raise TrialInputError(
            "layouts must have the shape (images, height, width), all at least 1; got "
            f"{layouts_NHW.shape}"
        )
    if not np.issubdtype(layouts_NHW.dtype, np.integer):
        raise TrialInputError(
            f"layouts must hold classes, which are whole numbers; got {layouts_NHW.dtype}"
        )
    layouts_NP = layouts_NHW.reshape(len(layouts_NHW), -1)
    classes = np.unique(layouts_NP)
    distances_NN = np.empty((len(layouts_NP), len(layouts_NP)), dtype=np.float32)
    for start in range(0, len(layouts_NP), _CHUNK_ROWS):
        rows = slice(start, start + _CHUNK_ROWS)
        distances_NN[rows] = 1.0 - _mean_iou(layouts_NP[rows], layouts_NP, classes)
    return distances_NN


def _mean_iou(
    layouts_RP: npt.NDArray[np.generic],
    layouts_NP: npt.NDArray[np.generic],
    classes: npt.NDArray[np.generic],
) -> npt.NDArray[np.float64]:
    """Shape (R, N)."""
    sum_RN = np.zeros((len(layouts_RP), len(layouts_NP)))
    count_RN = np.zeros_like(sum_RN)
    for label in classes:
        here_RP = (layouts_RP == label).astype(np.float32)  # counts up to 2^24 are exact
        there_NP = (layouts_NP == label).astype(np.float32)
        common_RN = (here_RP @ there_NP.T).astype(np.float64)
        union_RN = here_RP.sum(1)[:, None] + there_NP.sum(1) - common_RN
        sum_RN += common_RN / np.maximum(union_RN, 1.0)
        count_RN += union_RN > 0.0
    mean_RN: npt.NDArray[np.float64] = sum_RN / count_RN  # each pixel has a class
    return mean_RN
