"""Batches around an anchor, for losses on continuous labels."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from trainables.batch_samplers._nearest_by_label import nearest_by_label
from trainables.dataset_interface.batch_sampler import Embeddings, Sampler
from trainables.dataset_interface.label_distances import LabelDistances
from trainables.errors import TrialInputError

_NUM_NEIGHBOURS = 5


class LabelNeighbours(Sampler):
    """An anchor, then the five images nearest to it by label, nearest first, then random others.

    No image comes twice in a batch, and none is an anchor twice in an epoch. With fewer images
    than ``batch_size`` all of them are in every batch. An epoch has as many batches as hold all
    images, rounded down, at least one, so that it costs what an epoch of the other samplers costs.
    Of images tied for fifth nearest those that come first in the data are chosen.

    Source: Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision, section 3.3 (dense
    triplet mining). Their epoch makes every image an anchor once.

    Args:
        labels: labels of the images; only their number is used.
        batch_size: number of images of a batch, at least 7.
        samples_per_class: promises nothing here.
        seed: non-negative.
        label_distances: among the training images, in the order of ``labels``.
    """

    needs = frozenset({"label_distances"})
    smallest_batch = 1 + _NUM_NEIGHBOURS + 1

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
        for what, number in (("a batch_size", batch_size), ("a number of images", len(labels))):
            if number < self.smallest_batch:
                raise TrialInputError(
                    f"an anchor with {_NUM_NEIGHBOURS} neighbours and another image need {what} "
                    f"of at least {self.smallest_batch}; got {number}"
                )
        self._neighbours_NK = nearest_by_label(label_distances, _NUM_NEIGHBOURS)

    def _batches(
        self, generator: np.random.Generator, embeddings_ND: Embeddings | None
    ) -> Iterator[npt.NDArray[np.int64]]:
        num_images = len(self._labels)
        size = min(self._batch_size, num_images)
        for anchor in generator.permutation(num_images)[: num_images // size]:
            first = np.array([anchor, *self._neighbours_NK[anchor]])
            others = np.delete(np.arange(num_images), first)
            drawn = generator.choice(others, size - len(first), replace=False)
            yield np.concatenate([first, drawn])
