"""Batches of several images a class: which classes they can have, and what is said of the rest."""

import warnings

import numpy as np
import numpy.typing as npt

from podium.trainables.dataset_interface.batch_sampler import Sampler
from podium.trainables.errors import TrialInputError


class ClassGroups(Sampler):
    """Batches of P = batch_size // K classes with K = samples_per_class images each.

    With fewer than P classes, P is their number. Batches that are smaller for it, or because
    batch_size is no multiple of K, are warned of. Classes with one image have no positive and are
    left out, with a warning. An epoch has as many batches as hold all remaining images, rounded
    down, at least one.
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
        images = [group for group in np.split(order, starts[1:]) if len(group) > 1]
        if len(images) < 2:
            raise TrialInputError(
                f"a balanced batch needs two classes with at least 2 images; got {len(images)}"
            )
        self._images_of_class: list[npt.NDArray[np.int64]] = images
        self._num_classes = min(batch_size // samples_per_class, len(images))
        num_images = sum(map(len, images))
        self._num_batches = max(1, num_images // (self._num_classes * samples_per_class))
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
                f"which is not a multiple of samples_per_class ({self._samples_per_class})",
                stacklevel=2,
            )
        if num_left_out:
            warnings.warn(
                f"{num_left_out} classes have a single image and are left out of balanced batches",
                stacklevel=2,
            )
