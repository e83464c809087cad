"""Which test images a map shows, and what it keeps of their neighbours. N = all test images."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.study_results.tsne import nearest_share, neighbour_map, squared_distances
from orchestrator.results.records.stored_embeddings import StoredEmbeddings

CLASSES = 8
"""Largest number of classes on a map; as many as there are colours."""

IMAGES = 15
"""Largest number of images of a class."""

_FEWEST = 4  # images; with fewer there are no neighbourhoods


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageMap:
    """Embeddings of some test images on a map. M = images shown.

    Attributes:
        positions_M2: coordinates of the images on the map; their unit means nothing.
        classes_M: labels of the images, as in `StoredEmbeddings`.
        indices_M: indices of the images in the data set.
        nearest: share of the images whose nearest other image, by embedding, is of their class.
        nearest_on_map: the same share by distances on the map.
    """

    positions_M2: NDArray[np.float64]
    classes_M: NDArray[np.int64]
    indices_M: NDArray[np.int64]
    nearest: float
    nearest_on_map: float


def mapped_rows(labels_N: NDArray[np.int64], indices_N: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of the images to show, by class and then by their index in the data set.

    Of the classes with two images or more, `CLASSES` are chosen evenly in the order of their
    labels; of each class the first images in the data set. The choice is deterministic and does
    not depend on any result.

    Args:
        labels_N: labels of all test images.
        indices_N: indices of these images in the data set.
    """
    present, counts = np.unique(labels_N, return_counts=True)
    several = present[counts > 1]
    if not len(several):
        return np.empty(0, dtype=np.int64)
    chosen = several[np.unique(np.linspace(0, len(several) - 1, CLASSES).round().astype(int))]
    order_N = np.lexsort((indices_N, labels_N))
    rows = [order_N[labels_N[order_N] == label][:IMAGES] for label in chosen]
    return np.concatenate(rows)


def map_images(stored: StoredEmbeddings) -> ImageMap | None:
    """The map of one trial's test images; None with fewer than four to show."""
    rows_M = mapped_rows(stored.labels_N, stored.indices_N)
    if len(rows_M) < _FEWEST:
        return None
    points_MD = stored.embeddings_ND[rows_M].astype(np.float64)
    if stored.by_direction:
        lengths_M = np.sqrt((points_MD**2).sum(axis=1))
        points_MD = points_MD / np.where(lengths_M > 0, lengths_M, 1.0)[:, None]
    distances_MM = squared_distances(points_MD)
    positions_M2 = neighbour_map(distances_MM)
    classes_M = stored.labels_N[rows_M]
    return ImageMap(
        positions_M2=positions_M2,
        classes_M=classes_M,
        indices_M=stored.indices_N[rows_M],
        nearest=nearest_share(distances_MM, classes_M),
        nearest_on_map=nearest_share(squared_distances(positions_M2), classes_M),
    )
