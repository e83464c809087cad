"""What the images of a trial go through on their way to the network."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from trainables.datasets._base import Dataset
from trainables.datasets.pixels import ArrayPixels
from trainables.errors import TrialInputError
from trainables.image_batches import ImageBatches, ResidentBatches
from trainables.settings import TrainingSettings

__all__ = ["ImageInput"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageInput:
    """The choices of a trial, and where its network is.

    Attributes:
        training: the recipe; it names the augmentation.
        image_size: height and width of the network's input; None for images with a size of their
            own.
        device: of the network.
        num_threads: threads that may prepare images.
    """

    training: TrainingSettings
    image_size: int | None
    device: torch.device
    num_threads: int

    def batches(self, dataset: Dataset, indices_N: npt.NDArray[np.int64]) -> ImageBatches:
        """Some images of a data set, in the order of ``indices_N``.

        Raises:
            TrialInputError: the images do not go with these choices.
        """
        pixels = dataset.pixels
        if not isinstance(pixels, ArrayPixels):
            raise TrialInputError(f"{dataset.name}: its images have no size of their own")
        if self.image_size is not None:
            raise TrialInputError(
                f"image_size must be null for {dataset.name}, whose images have a size of their "
                f"own; got {self.image_size}"
            )
        images_NHW = torch.from_numpy(pixels.images_NHW[indices_N])
        is_shifted = self.training.augmentation == "shift"
        return ResidentBatches(images_NHW[:, None].to(self.device), is_shifted=is_shifted)
