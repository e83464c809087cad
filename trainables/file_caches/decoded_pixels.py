"""The images of a data set, by their position in it. N = images, H, W = height and width."""

import hashlib
from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt


class Pixels(ABC):
    """Images as uint8 arrays, each read when it is indexed; safe to read from several threads."""

    @abstractmethod
    def __len__(self) -> int:
        """How many images there are."""

    @abstractmethod
    def image(self, index: int) -> npt.NDArray[np.uint8]:
        """One image: (H, W) if it is grey, (H, W, 3) if it is RGB."""

    @abstractmethod
    def content_hash(self, indices: npt.NDArray[np.int64]) -> str:
        """Hash of the content of some images, in their order."""


class ArrayPixels(Pixels):
    """Grey images of one size in one array, which may be memory-mapped.

    Attributes:
        images_NHW: uint8.
    """

    def __init__(self, images_NHW: npt.NDArray[np.uint8]) -> None:
        self.images_NHW = images_NHW

    def __len__(self) -> int:
        """N."""
        return len(self.images_NHW)

    def image(self, index: int) -> npt.NDArray[np.uint8]:
        """See `Pixels.image`."""
        return np.asarray(self.images_NHW[index])

    def content_hash(self, indices: npt.NDArray[np.int64]) -> str:
        """See `Pixels.content_hash`."""
        chosen = np.ascontiguousarray(self.images_NHW[indices])
        return hashlib.sha256(chosen.data).hexdigest()
