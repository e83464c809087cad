"""P classes x K images a batch."""

import warnings
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from trainables.dataset_interface.batch_sampler import Deck, Sampler
from trainables.errors import TrialInputError


class Balanced(Sampler):
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

    def __init__(
        self,
        labels: npt.NDArray[np.int64],
        batch_size: int,
        samples_per_class: int,
        seed: int,
    ) -> None:
        super().__init__(labels, batch_size, samples_per_class, seed)
        if samples_per_class < 2:
            raise TrialInputError(
                f"samples_per_class must be at least 2, or no image has a positive; "
                f"got {samples_per_class}"
            )
        if batch_size < 2 * samples_per_class:
            raise TrialInputError(
                f"a balanced batch needs two classes: batch_size must be at least twice "
                f"samples_per_class; got {batch_size} and {samples_per_class}"
            )
        order = np.argsort(self._labels, kind="stable")
        _, starts = np.unique(self._labels[order], return_index=True)
        images = [group.tolist() for group in np.split(order, starts[1:]) if len(group) > 1]
        if len(images) < 2:
            raise TrialInputError(
                f"a balanced batch needs two classes with at least 2 images; got {len(images)}"
            )
        self._images_of_class: list[list[int]] = images
        self._warn(num_left_out=len(starts) - len(images))

    def _warn(self, *, num_left_out: int) -> None:
        """Say what is other than the settings promise; warnings are kept with the trial."""
        wanted, left = divmod(self._batch_size, self._samples_per_class)
        found = len(self._images_of_class)
        if found < wanted:
            warnings.warn(
                f"batches hold {found * self._samples_per_class} images instead of "
                f"{self._batch_size}: there are only {found} classes to draw {wanted} from",
                stacklevel=2,
            )
        elif left:
            warnings.warn(
                f"batches hold {self._batch_size - left} images instead of {self._batch_size}, "
                f"which is no multiple of samples_per_class ({self._samples_per_class})",
                stacklevel=2,
            )
        if num_left_out:
            warnings.warn(
                f"{num_left_out} classes have a single image and are left out of balanced batches",
                stacklevel=2,
            )

    def _batches(self, generator: np.random.Generator) -> Iterator[npt.NDArray[np.int64]]:
        count = self._samples_per_class
        num_classes = min(self._batch_size // count, len(self._images_of_class))
        num_images = sum(map(len, self._images_of_class))
        classes = Deck(range(len(self._images_of_class)), generator)
        decks = [Deck(images, generator) for images in self._images_of_class]
        for _ in range(max(1, num_images // (num_classes * count))):
            batch = []
            for index in classes.draw(num_classes):
                available = self._images_of_class[index]
                batch += decks[index].draw(min(count, len(available)))
                batch += generator.choice(available, max(0, count - len(available))).tolist()
            yield np.array(batch, dtype=np.int64)
