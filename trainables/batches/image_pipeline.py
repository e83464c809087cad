"""What the images of a trial go through on their way to the network."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import torch

from podium.trainables.batches.cpu_batches import HostBatches
from podium.trainables.batches.device_batches import DeviceBatches
from podium.trainables.batches.feature_batches import FeatureBatches
from podium.trainables.batches.image_batches import ImageBatches, ResidentBatches
from podium.trainables.batches.random_crops import Crop, crop_boxes, square_boxes
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.array_cache import cache_folder_at
from podium.trainables.file_caches.decoded_pixels import ArrayPixels, Pixels
from podium.trainables.file_caches.image_files import ImageFiles
from podium.trainables.file_caches.resized_images import evaluation_side, resized
from podium.trainables.settings.training_settings import TrainingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageInput:
    """The choices of a trial, and where its network is.

    Attributes:
        training: the recipe; it names the augmentation, the cache and the loader.
        image_size: height and width of the network's input; None for images with a size of their
            own.
        device: device of the network.
        num_threads: threads that may prepare images.
        cache_folder: folder of resized images; None as of `cache_folder_at`.
    """

    training: TrainingSettings
    image_size: int | None
    device: torch.device
    num_threads: int
    cache_folder: str | None = None

    def batches(self, dataset: Dataset, indices_N: npt.NDArray[np.int64]) -> ImageBatches:
        """Some images of a data set, in the order of ``indices_N``.

        Raises:
            TrialInputError: the images do not go with these choices, or a file of theirs cannot be
                decoded.
        """
        if dataset.vectors is not None:
            return FeatureBatches(dataset.vectors, indices_N, self.device)
        pixels = dataset.pixels
        if isinstance(pixels, ArrayPixels):
            return self._of_array(dataset.name, pixels, indices_N)
        assert isinstance(pixels, ImageFiles), "images are an array or files"
        return self._of_files(dataset.name, pixels, indices_N)

    def _of_array(
        self, name: str, pixels: ArrayPixels, indices_N: npt.NDArray[np.int64]
    ) -> ImageBatches:
        if self.image_size is not None:
            raise TrialInputError(
                f"image_size must be null for {name}, whose images have a size of their own; got "
                f"{self.image_size}"
            )
        self._assert_augmentation(name, "shift")
        images_NHW = torch.from_numpy(pixels.images_NHW[indices_N])
        is_shifted = self.training.augmentation == "shift"
        return ResidentBatches(images_NHW[:, None].to(self.device), is_shifted=is_shifted)

    def _of_files(
        self, name: str, files: ImageFiles, indices_N: npt.NDArray[np.int64]
    ) -> ImageBatches:
        if self.image_size is None:
            raise TrialInputError(
                f"{name} needs an image_size, such as 224: its images are files of any size"
            )
        self._assert_augmentation(name, "random_resized_crop", "random_crop")
        training = self.training
        if training.loader == "device" and training.cache == "none":
            raise TrialInputError(
                "training.loader 'device' keeps resized images; with training.cache 'none' the "
                "loader must be 'host'"
            )
        shorter_side = evaluation_side(self.image_size, training.evaluation_crop)
        if training.cache == "none":
            pixels: Pixels = files
        else:
            pixels = resized(files, shorter_side, cache_folder_at(self.cache_folder))
        if training.loader == "device":
            return DeviceBatches(
                pixels,
                indices_N,
                image_size=self.image_size,
                crop=_crop(training),
                device=self.device,
            )
        return HostBatches(
            pixels,
            indices_N,
            image_size=self.image_size,
            shorter_side=shorter_side,
            crop=_crop(training),
            device=self.device,
            num_threads=self.num_threads,
        )

    def _assert_augmentation(self, name: str, *known: str) -> None:
        if self.training.augmentation not in (*known, "none"):
            choices = ", ".join(map(repr, known))
            raise TrialInputError(
                f"training.augmentation must be {choices} or 'none' for {name}; got"
                f" {self.training.augmentation!r}"
            )


def _crop(training: TrainingSettings) -> Crop | None:
    match training.augmentation:
        case "random_resized_crop":
            return partial(crop_boxes, scale_min=training.crop_scale_min)
        case "random_crop":
            return partial(square_boxes, share=training.evaluation_crop)
    return None
