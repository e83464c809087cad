"""Batches of images drawn regardless of class."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from podium.trainables.dataset_interface.batch_sampler import Embeddings, Sampler


class Random(Sampler):
    """All images once an epoch, shuffled and cut into batches; an incomplete last one is dropped.

    With fewer images than ``batch_size`` all of them are the one batch. ``samples_per_class``
    promises nothing here: with many classes most images find no positive in their batch (Stanford
    Online Products at batch size 180: 98.7 %).
    """

    def _batches(
        self, generator: np.random.Generator, embeddings_ND: Embeddings | None
    ) -> Iterator[npt.NDArray[np.int64]]:
        order = generator.permutation(len(self._labels))
        size = min(self._batch_size, len(order))
        for start in range(0, len(order) - size + 1, size):
            yield order[start : start + size]
