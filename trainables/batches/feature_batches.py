"""How the feature vectors of one role reach the network.

N = images, B = images of a batch, V = views of each, F = features.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from podium.trainables.batches.image_batches import EVALUATION_CHUNK, ImageBatches
from podium.trainables.device import sent
from podium.trainables.file_caches.feature_vectors import FeatureVectors

# Of the free memory of a GPU, which several trials may share.
_MAX_SHARE = 0.25
_BYTES = 4


class FeatureBatches(ImageBatches):
    """Feature vectors instead of images: float32, shape (V * B, F).

    Nothing of them is random. On a GPU they lie in its memory if they take at most a quarter of
    what is free there; else, and on CPUs, rows are gathered from the file, whose pages all trials
    of a machine share. Where they lie changes no number.

    Args:
        vectors: vectors of the data set or of a part of it.
        indices_N: the rows that are the images of the role, in its order.
        device: device of the network.
    """

    def __init__(
        self, vectors: FeatureVectors, indices_N: npt.NDArray[np.int64], device: torch.device
    ) -> None:
        self._vectors = vectors
        self._indices_N = indices_N
        self._device = device
        self._resident_NF: Tensor | None = None
        if device.type == "cuda" and _fits(len(indices_N) * vectors.num_features, device):
            self._resident_NF = torch.from_numpy(vectors.rows(indices_N)).to(device)

    def training(
        self, batches: Iterable[npt.NDArray[np.int64]], seed: int, num_views: int
    ) -> Iterator[Tensor]:
        """See `ImageBatches.training`; all views of an image are equal."""
        for indices_B in batches:
            yield self._rows(indices_B).repeat(num_views, 1)

    def evaluation(self) -> Iterator[Tensor]:
        """See `ImageBatches.evaluation`; chunks of shape (B, F)."""
        positions_N = np.arange(len(self._indices_N))
        for first in range(0, len(positions_N), EVALUATION_CHUNK):
            yield self._rows(positions_N[first : first + EVALUATION_CHUNK])

    def _rows(self, positions_B: npt.NDArray[np.int64]) -> Tensor:
        if self._resident_NF is not None:
            return self._resident_NF[sent(torch.from_numpy(positions_B), self._device)]
        rows_BF = self._vectors.rows(self._indices_N[positions_B])
        return sent(torch.from_numpy(rows_BF), self._device)


def _fits(num_values: int, device: torch.device) -> bool:
    free_bytes, _ = torch.cuda.mem_get_info(device)
    return num_values * _BYTES <= _MAX_SHARE * free_bytes
