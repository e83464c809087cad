"""What every sampler offers. N = images, D = embedding dimension."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from podium.trainables.errors import TrialInputError

Embeddings = npt.NDArray[np.float32]


class Sampler(ABC):
    """Batches of image indices, epoch by epoch.

    An epoch is a pure function of the arguments and its number: it does not matter which epochs
    were drawn before, so that a resumed trial sees what an undisturbed one sees.

    A sampler that needs more than that takes it as a keyword argument, and says so in ``needs``.
    One that chooses by what the network makes of the training images says so too, and then gets
    their embeddings at the start of each epoch; they count as an argument of the epoch.

    Args:
        labels: class of each training image, shape (N,), any integers.
        batch_size: images in a batch, at least 2.
        samples_per_class: images of one class in a batch, for samplers that promise that.
        seed: non-negative.

    Attributes:
        needs: what the data set has to provide besides classes: ``label_distances``.
        needs_embeddings: whether `epoch` needs the embeddings of the training images, which cost
            a forward pass over all of them.
        is_balanced: whether batches hold ``samples_per_class`` images of each of their classes; a
            literal, for `trainables.registry.literals`.
        smallest_batch: the fewest images that make a batch.

    Raises:
        TrialInputError: no batch of that kind can be made of these labels.
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    needs_embeddings: ClassVar[bool] = False
    is_balanced: ClassVar[bool] = False
    smallest_batch: ClassVar[int] = 2

    def __init__(
        self,
        labels: npt.NDArray[np.int64],
        batch_size: int,
        samples_per_class: int,
        seed: int,
    ) -> None:
        if batch_size < 2:
            raise TrialInputError(f"batch_size must be at least 2; got {batch_size}")
        if len(labels) < 2:
            raise TrialInputError(f"a sampler needs at least 2 images; got {len(labels)}")
        self._labels = np.asarray(labels)
        self._batch_size = batch_size
        self._samples_per_class = samples_per_class
        self._seed = seed

    def epoch(
        self, epoch: int, embeddings_ND: Embeddings | None = None
    ) -> Iterator[npt.NDArray[np.int64]]:
        """The batches of one epoch, each an array of indices into ``labels``; at least one.

        Args:
            epoch: its number.
            embeddings_ND: of the images, finite, of any length, by the network as it is before the
                epoch; for samplers that need them.
        """
        return self._batches(np.random.default_rng((self._seed, epoch)), embeddings_ND)

    @abstractmethod
    def _batches(
        self, generator: np.random.Generator, embeddings_ND: Embeddings | None
    ) -> Iterator[npt.NDArray[np.int64]]:
        """The batches of one epoch, from that epoch's own generator."""


class Deck:
    """Cards drawn without replacement: no card comes again before all others have come.

    That holds across draws: when the deck runs out in the middle of one, it is shuffled anew, and
    the cards already in hand go to the bottom.
    """

    def __init__(self, cards: Sequence[int], generator: np.random.Generator) -> None:
        self._cards = list(cards)
        self._generator = generator
        self._left: list[int] = []

    def draw(self, count: int) -> list[int]:
        """Distinct cards; ``count`` is at most the size of the deck."""
        if count > len(self._left):
            in_hand = set(self._left)
            shuffled = self._generator.permutation(self._cards).tolist()
            shuffled.sort(key=in_hand.__contains__)  # stable: others first, those in hand last
            self._left += shuffled
        drawn, self._left = self._left[:count], self._left[count:]
        return drawn
