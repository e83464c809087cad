"""The labelled images of one role, held where the network is.

N = images, H, W = height and width in pixels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from trainables.datasets._base import Dataset
from trainables.datasets._label_distances import LabelDistances
from trainables.errors import TrialInputError

__all__ = ["LabelledImages", "images_of_classes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledImages:
    """All images of some classes of a data set.

    Attributes:
        images_NHW: uint8.
        labels_N: int64 class ids.
        indices_N: int64, position of each image in the data set; on the CPU.
        label_distances: among these images; None where the task is ``classes``.
    """

    images_NHW: Tensor
    labels_N: Tensor
    indices_N: Tensor
    label_distances: LabelDistances | None = None

    def __len__(self) -> int:
        return len(self.labels_N)


def images_of_classes(
    dataset: Dataset, class_ids: Sequence[int], device: torch.device
) -> LabelledImages:
    """The images of ``class_ids``, in the order of the data set.

    Raises:
        TrialInputError: no class has two images, so nothing can be retrieved or pulled together;
            or the task is continuous and there is one image.
    """
    indices_N = np.flatnonzero(np.isin(dataset.labels, class_ids))
    labels_N = dataset.labels[indices_N]
    distances = dataset.label_distances
    if distances is not None and len(indices_N) < 2:
        raise TrialInputError(
            f"{dataset.name}: there must be 2 images to retrieve one by the other, but these "
            f"{len(class_ids)} classes have {len(indices_N)}"
        )
    if distances is None and np.bincount(labels_N, minlength=1).max() < 2:
        raise TrialInputError(
            f"{dataset.name}: a class needs 2 images to retrieve one by the other, but none of "
            f"these {len(class_ids)} classes has more than 1"
        )
    return LabelledImages(
        images_NHW=torch.from_numpy(dataset.images[indices_N]).to(device),
        labels_N=torch.from_numpy(labels_N).to(device),
        indices_N=torch.from_numpy(indices_N),
        label_distances=None if distances is None else distances.among(indices_N),
    )
