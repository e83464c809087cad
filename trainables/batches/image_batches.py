"""How the images of one role reach the network.

B = images of a batch, V = views of each, N = images, C = channels, H, W = height and width.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from podium.trainables.batches.augmentation import shifted
from podium.trainables.device import sent

# Images that go through the network at a time where no gradient is needed.
EVALUATION_CHUNK = 512

# Of large images fewer go through it, so that what a layer gives stays below some GB.
_EVALUATION_PIXELS = 128 * 224**2

# Measured on glyphs with each loss at its best learning rate: one pixel adds 2 to 8 points of
# Recall@1 on unseen letters after 6 to 10 epochs; two pixels are too many for so few epochs.
_MAX_SHIFT_PIXELS = 1


class ImageBatches(ABC):
    """Images of one role as uint8 tensors where the network is."""

    @abstractmethod
    def training(
        self, batches: Iterable[npt.NDArray[np.int64]], seed: int, num_views: int
    ) -> Iterator[Tensor]:
        """Augmented images, one tensor of shape (V * B, C, H, W) for each batch.

        The first view of all images comes first, then the second. A pure function of its
        arguments: neither threads nor what was asked before matter.

        Args:
            batches: positions among the images of the role, batch by batch.
            seed: seed of everything random.
            num_views: V, how often each image is in its tensor, augmented anew each time.
        """

    @abstractmethod
    def evaluation(self) -> Iterator[Tensor]:
        """All images, in order and without chance, in chunks of shape (B, C, H, W)."""


def evaluation_chunk(image_size: int) -> int:
    """Images of this height and width, in pixels, that are evaluated at a time: 1 to 512."""
    return max(1, min(EVALUATION_CHUNK, _EVALUATION_PIXELS // image_size**2))


class ResidentBatches(ImageBatches):
    """Grey images of one size that all lie on the device.

    Args:
        images_N1HW: uint8, on the device.
        is_shifted: whether training moves each image by up to a pixel along both axes.
    """

    def __init__(self, images_N1HW: Tensor, *, is_shifted: bool) -> None:
        self._images_N1HW = images_N1HW
        self._is_shifted = is_shifted

    def training(
        self, batches: Iterable[npt.NDArray[np.int64]], seed: int, num_views: int
    ) -> Iterator[Tensor]:
        """See `ImageBatches.training`."""
        generator = torch.Generator().manual_seed(seed)
        for indices in batches:
            indices_B = sent(torch.from_numpy(indices), self._images_N1HW.device)
            images_B1HW = self._images_N1HW[indices_B]
            views = [
                shifted(images_B1HW[:, 0], _MAX_SHIFT_PIXELS, generator)[:, None]
                if self._is_shifted
                else images_B1HW
                for _ in range(num_views)
            ]
            yield torch.cat(views)

    def evaluation(self) -> Iterator[Tensor]:
        """See `ImageBatches.evaluation`."""
        yield from torch.split(self._images_N1HW, EVALUATION_CHUNK)
