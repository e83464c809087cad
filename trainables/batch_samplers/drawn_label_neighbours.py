"""Batches of an anchor, some of its many neighbours by label, and images that are none of them."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from trainables.batch_samplers._nearest_by_label import nearest_by_label
from trainables.dataset_interface.batch_sampler import Embeddings, Sampler
from trainables.dataset_interface.label_distances import LabelDistances
from trainables.errors import TrialInputError

_NUM_NEIGHBOURS = 30
_NUM_DRAWN = 5


class DrawnLabelNeighbours(Sampler):
    """An anchor, then five drawn from the 30 images nearest to it by label, then random others.

    The others are drawn from all images that are not among the 30, so that the loss
    `neighbour_triplet` finds the five as its positives. No image comes twice in a batch, and none
    is an anchor twice in an epoch. A batch is smaller where there are fewer others. An epoch has
    as many batches as hold all images, rounded down, at least one. Of images tied for 30th nearest
    those that come first in the data are chosen.

    Source: Naive_PairDataset of the code of Kim et al. 2019, Deep Metric Learning Beyond Binary
    Supervision, the batches of their baseline. Their epoch makes every image an anchor once.

    Args:
        labels: labels of the images; only their number is used, at least 32.
        batch_size: number of images of a batch, at least 7.
        samples_per_class: promises nothing here.
        seed: non-negative.
        label_distances: among the training images, in the order of ``labels``.
    """

    needs = frozenset({"label_distances"})
    smallest_batch = 1 + _NUM_DRAWN + 1

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
        fewest = 1 + _NUM_NEIGHBOURS + 1
        for what, number, least in (
            ("a batch_size", batch_size, self.smallest_batch),
            ("a number of images", len(labels), fewest),
        ):
            if number < least:
                raise TrialInputError(
                    f"an anchor with {_NUM_DRAWN} of its {_NUM_NEIGHBOURS} neighbours and another "
                    f"image need {what} of at least {least}; got {number}"
                )
        self._neighbours_NK = nearest_by_label(label_distances, _NUM_NEIGHBOURS)

    def _batches(
        self, generator: np.random.Generator, embeddings_ND: Embeddings | None
    ) -> Iterator[npt.NDArray[np.int64]]:
        num_images = len(self._labels)
        num_others = min(self._batch_size - 1 - _NUM_DRAWN, num_images - 1 - _NUM_NEIGHBOURS)
        size = 1 + _NUM_DRAWN + num_others
        for anchor in generator.permutation(num_images)[: num_images // size]:
            neighbours = self._neighbours_NK[anchor]
            drawn = generator.choice(neighbours, _NUM_DRAWN, replace=False)
            others = np.delete(np.arange(num_images), [anchor, *neighbours])
            far = generator.choice(others, num_others, replace=False)
            yield np.concatenate([[anchor], drawn, far])
