"""The labelled images of one role, held where the network is. N = images."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from podium.trainables.batches.image_batches import ImageBatches
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.dataset_interface.label_distances import LabelDistances
from podium.trainables.errors import TrialInputError


class NetworkInput(Protocol):
    """What images go through on their way to the network: `ImageInput`, `FrozenFeatures`."""

    @property
    def device(self) -> torch.device:
        """Of the network."""

    def batches(self, dataset: Dataset, indices_N: npt.NDArray[np.int64]) -> ImageBatches:
        """Some images of a data set, in the order of ``indices_N``.

        Raises:
            TrialInputError: the images do not go with the choices of the trial.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledImages:
    """All images of some classes of a data set.

    Attributes:
        batches: the images, as the network takes them.
        labels_N: int64 class ids.
        indices_N: int64, position of each image in the data set; on the CPU.
        is_gallery_N: bool, whether an image is searched and never asks; on the device of the
            labels. None where every image is a query against all others.
        label_distances: among these images; None where the task is ``classes``.
    """

    batches: ImageBatches
    labels_N: Tensor
    indices_N: Tensor
    is_gallery_N: Tensor | None = None
    label_distances: LabelDistances | None = None

    def __len__(self) -> int:
        return len(self.labels_N)


def images_of_classes(
    dataset: Dataset, class_ids: Sequence[int], image_input: NetworkInput
) -> LabelledImages:
    """The images of ``class_ids``, in the order of the data set.

    Raises:
        TrialInputError: no class has two images, so nothing can be retrieved or pulled together;
            or the task is continuous and there is one image; or the images do not go with
            ``image_input``.
    """
    indices_N = np.flatnonzero(np.isin(dataset.labels, class_ids))
    labels_N = dataset.labels[indices_N]
    is_gallery_N = None if dataset.gallery_N is None else dataset.gallery_N[indices_N]
    if is_gallery_N is not None and not is_gallery_N.any():
        is_gallery_N = None  # of training classes
    _assert_retrievable(dataset, labels_N, is_gallery_N, len(class_ids))
    distances, device = dataset.label_distances, image_input.device
    return LabelledImages(
        batches=image_input.batches(dataset, indices_N),
        labels_N=torch.from_numpy(labels_N).to(device),
        indices_N=torch.from_numpy(indices_N),
        is_gallery_N=None if is_gallery_N is None else torch.from_numpy(is_gallery_N).to(device),
        label_distances=None if distances is None else distances.among(indices_N),
    )


def _assert_retrievable(
    dataset: Dataset,
    labels_N: npt.NDArray[np.int64],
    is_gallery_N: npt.NDArray[np.bool_] | None,
    num_classes: int,
) -> None:
    if dataset.label_distances is not None:
        if len(labels_N) < 2:
            raise TrialInputError(
                f"{dataset.name}: there must be 2 images to retrieve one by the other, but these "
                f"{num_classes} classes have {len(labels_N)}"
            )
    elif is_gallery_N is not None:
        if not np.isin(labels_N[~is_gallery_N], labels_N[is_gallery_N]).any():
            raise TrialInputError(
                f"{dataset.name}: a query needs a gallery image of its class, but none of these "
                f"{num_classes} classes has both"
            )
    elif np.bincount(labels_N, minlength=1).max() < 2:
        raise TrialInputError(
            f"{dataset.name}: a class needs 2 images to retrieve one by the other, but none of "
            f"these {num_classes} classes has more than 1"
        )
