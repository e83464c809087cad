"""Batches around an anchor and images near it by label.

N = images, K = neighbours of each, R = rows of a block.
"""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from podium.trainables.dataset_interface.batch_sampler import Embeddings, Sampler
from podium.trainables.dataset_interface.label_distances import LabelDistances
from podium.trainables.errors import TrialInputError

_CHUNK_ROWS = 512


class AnchoredByLabel(Sampler):
    """An anchor, some of the images nearest to it by label, then random ones not among those.

    No image comes twice in a batch, and none is an anchor twice in an epoch. A batch is smaller
    where there are fewer others. An epoch has as many batches as hold all images, rounded down, at
    least one, so that it costs what an epoch of the other samplers costs. Of images tied for the
    last of the nearest those that come first in the data are chosen.

    Args:
        labels: labels of the images; only their number is used.
        batch_size: number of images of a batch.
        samples_per_class: promises nothing here.
        seed: non-negative.
        label_distances: among the training images, in the order of ``labels``.

    Attributes:
        num_neighbours: images that count as nearest.
        num_near: images of those in a batch, drawn where they are fewer.
    """

    needs = frozenset({"label_distances"})
    num_neighbours: ClassVar[int]
    num_near: ClassVar[int]

    def __init__(
        self,
        labels: npt.NDArray[np.int64],
        batch_size: int,
        samples_per_class: int,
        seed: int,
        *,
        label_distances: LabelDistances,
    ) -> None:
        super().__init__(labels, batch_size, samples_per_class, seed)
        for what, number, least in (
            ("a batch_size", batch_size, self.smallest_batch),
            ("a number of images", len(labels), 1 + self.num_neighbours + 1),
        ):
            if number < least:
                raise TrialInputError(
                    f"an anchor with {self.num_near} of its {self.num_neighbours} neighbours and "
                    f"another image need {what} of at least {least}; got {number}"
                )
        self._neighbours_NK = _nearest_by_label(label_distances, self.num_neighbours)

    def _batches(
        self, generator: np.random.Generator, embeddings_ND: Embeddings | None
    ) -> Iterator[npt.NDArray[np.int64]]:
        num_images = len(self._labels)
        num_others = min(
            self._batch_size - 1 - self.num_near, num_images - 1 - self.num_neighbours
        )
        size = 1 + self.num_near + num_others
        for anchor in generator.permutation(num_images)[: num_images // size]:
            near = neighbours = self._neighbours_NK[anchor]
            if self.num_near < self.num_neighbours:
                near = generator.choice(neighbours, self.num_near, replace=False)
            others = np.delete(np.arange(num_images), [anchor, *neighbours])
            far = generator.choice(others, num_others, replace=False)
            yield np.concatenate([[anchor], near, far])


def _nearest_by_label(
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
