"""The images nearest to each by label. N = images, K = neighbours of each, R = rows of a block."""

import numpy as np
import numpy.typing as npt

from trainables.dataset_interface.label_distances import LabelDistances

_CHUNK_ROWS = 512


def nearest_by_label(
    label_distances: LabelDistances, num_neighbours: int
) -> npt.NDArray[np.int64]:
    """Indices of each image's nearest others, nearest first: shape (N, K).

    Equally near ones come in the order of the data.

    Args:
        label_distances: among N images.
        num_neighbours: K, below N.
    """
    every = np.arange(len(label_distances))
    last = num_neighbours - 1
    found = []
    for start in range(0, len(every), _CHUNK_ROWS):
        rows = every[start : start + _CHUNK_ROWS]
        distances_RN = label_distances.between(rows, every)
        distances_RN[np.arange(len(rows)), rows] = np.inf
        last_R = np.partition(distances_RN, last, axis=1)[:, last]
        found += [
            _first(row_N, farthest, num_neighbours)
            for row_N, farthest in zip(distances_RN, last_R, strict=True)
        ]
    return np.stack(found)


def _first(
    distances_N: npt.NDArray[np.float64], farthest: float, num_neighbours: int
) -> npt.NDArray[np.int64]:
    """The nearest; a partition alone would choose among ties as the processor likes."""
    near = np.flatnonzero(distances_N <= farthest)
    return near[distances_N[near].argsort(kind="stable")[:num_neighbours]]
