"""P classes x K images around an anchor: those that the network takes for near. M = images used.

C = classes used, D = embedding dimension.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from podium.trainables.batch_samplers._class_groups import ClassGroups
from podium.trainables.dataset_interface.batch_sampler import Embeddings


class HardNeighbours(ClassGroups):
    """An anchor with others of its class, then the images of other classes nearest to it.

    Before each epoch all training images are embedded. A batch is an anchor, drawn at random, and
    K - 1 other images of its class, drawn too; then K images each of the P - 1 other classes that
    come nearest to the anchor, nearest class first and nearest image first, by the cosine of their
    embeddings. They are hard, but not the hardest: of a class with more than K images the nearest
    one, which may be a wrong label or the same thing twice, is passed over.

    No image is an anchor twice in an epoch. P, K, warnings and the number of batches are those of
    the sampler `balanced`: a class with fewer than K images fills up with repeats. Equally near
    images come in the order of the data.

    Source: after Harwood et al. 2017, Smart Mining for Deep Metric Learning, which searches the
    whole training set for negatives as the network changes. Here the search is exact, what is too
    hard is a rule in place of their adaptive controller, and batches hold whole classes, for
    losses that compare more than triplets.
    """

    is_balanced = True
    needs_embeddings = True

    def __init__(
        self,
        labels: npt.NDArray[np.int64],
        batch_size: int,
        samples_per_class: int,
        seed: int,
    ) -> None:
        super().__init__(labels, batch_size, samples_per_class, seed)
        sizes_C = np.array([len(images) for images in self._images_of_class])
        self._members_M = np.concatenate(self._images_of_class)
        self._class_M = np.repeat(np.arange(len(sizes_C)), sizes_C)
        self._begin_C = np.cumsum(sizes_C) - sizes_C + (sizes_C > samples_per_class)
        self._end_C = self._begin_C + np.minimum(sizes_C, samples_per_class)

    def _batches(
        self, generator: np.random.Generator, embeddings_ND: Embeddings | None
    ) -> Iterator[npt.NDArray[np.int64]]:
        assert embeddings_ND is not None, "a sampler that needs embeddings gets them"
        unit_MD = _normalised(embeddings_ND[self._members_M])
        for anchor in generator.permutation(len(unit_MD))[: self._num_batches]:
            # Not by a matrix product, whose last bits depend on the number of threads.
            similarity_M = np.einsum("md,d->m", unit_MD, unit_MD[anchor])
            yield self._members_M[self._around(anchor, similarity_M, generator)]

    def _around(
        self, anchor: np.int64, similarity_M: Embeddings, generator: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """The batch of an anchor, by positions among the images used."""
        # Class by class, and in each the nearest first.
        order_M = np.lexsort((-similarity_M, self._class_M))
        nearness_C = similarity_M[order_M[self._begin_C]]
        own = self._class_M[anchor]
        nearness_C[own] = -np.inf
        hardest_first = np.argsort(-nearness_C, kind="stable")[: self._num_classes - 1]
        groups = [np.append(anchor, self._drawn(anchor, generator))]
        groups += [order_M[self._begin_C[index] : self._end_C[index]] for index in hardest_first]
        count = self._samples_per_class
        filled = [
            np.append(group, generator.choice(group, count - len(group))) for group in groups
        ]
        return np.concatenate(filled)

    def _drawn(self, anchor: np.int64, generator: np.random.Generator) -> npt.NDArray[np.int64]:
        """Up to K - 1 other images of the anchor's class."""
        alike = np.flatnonzero(self._class_M == self._class_M[anchor])
        others = alike[alike != anchor]
        count = min(self._samples_per_class - 1, len(others))
        return generator.choice(others, count, replace=False)


def _normalised(embeddings_MD: Embeddings) -> Embeddings:
    """Rows of length 1; one without a direction stays 0, which is as far as a right angle."""
    lengths_M1 = np.linalg.norm(embeddings_MD, axis=1, keepdims=True)
    lengths_M1[lengths_M1 == 0.0] = 1.0
    unit_MD: Embeddings = embeddings_MD / lengths_M1
    return unit_MD
