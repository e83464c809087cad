"""P classes x K images a batch."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from podium.trainables.batch_samplers._class_groups import ClassGroups
from podium.trainables.dataset_interface.batch_sampler import Deck, Embeddings


class Balanced(ClassGroups):
    """Batches of P = batch_size // K classes with K = samples_per_class images each.

    No class comes a second time before all classes have come once, and no image of a class before
    all its images have; only a class with fewer than K images fills up with repeats. With fewer
    than P classes, P is their number. Batches that are smaller for it, or because batch_size is no
    multiple of K, are warned of. Classes with one image have no positive and are left out, with a
    warning. An epoch has as many batches as hold all remaining images, rounded down, at least one.

    Neighbours in a batch are of one class: the K images of a class are consecutive.

    Source: Hermans et al. 2017, section 2 (PK batches), with the choices of the multi-similarity
    authors' sampler: without replacement, padding small classes.
    """

    is_balanced = True

    def _batches(
        self, generator: np.random.Generator, embeddings_ND: Embeddings | None
    ) -> Iterator[npt.NDArray[np.int64]]:
        count = self._samples_per_class
        classes = Deck(range(len(self._images_of_class)), generator)
        decks = [Deck(images.tolist(), generator) for images in self._images_of_class]
        for _ in range(self._num_batches):
            batch = []
            for index in classes.draw(self._num_classes):
                available = self._images_of_class[index]
                batch += decks[index].draw(min(count, len(available)))
                batch += generator.choice(available, max(0, count - len(available))).tolist()
            yield np.array(batch, dtype=np.int64)
