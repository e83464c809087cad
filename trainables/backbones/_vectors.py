"""What backbones share that take vectors in place of images. B = batch, F = length of a vector."""

from torch import Tensor

from podium.trainables.errors import TrialInputError
from podium.trainables.network.backbone_base import Backbone
from podium.trainables.settings.trial_settings import RANDOM_WEIGHTS


class VectorBackbone(Backbone):
    """A network on float32 vectors.

    Args:
        weights: ``random`` or the path of a file.
        num_inputs: F, at least 1.
    """

    def __init__(self, weights: str = RANDOM_WEIGHTS, *, num_inputs: int) -> None:
        super().__init__(weights)
        self._num_inputs = num_inputs

    def check(self, images_BCHW: Tensor) -> None:
        """See `Backbone.check`: vectors must have the length that the network was made for."""
        if images_BCHW.ndim != 2 or images_BCHW.shape[1] != self._num_inputs:
            raise TrialInputError(
                f"{self.label} was made for vectors of length {self._num_inputs}, but got a batch "
                f"of shape {tuple(images_BCHW.shape)}"
            )
