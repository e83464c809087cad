"""No network: vectors that were computed before go to the embedding layer as they are."""

from torch import Tensor

from podium.trainables.backbones._vectors import VectorBackbone
from podium.trainables.network.load_weights import start_from
from podium.trainables.settings.trial_settings import RANDOM_WEIGHTS


class Identity(VectorBackbone):
    """The vectors themselves: a trial trains the embedding layer and its loss only."""

    has_map = False
    takes_features = True

    def __init__(self, weights: str = RANDOM_WEIGHTS, *, num_inputs: int) -> None:
        super().__init__(weights, num_inputs=num_inputs)
        self.num_features = num_inputs
        start_from(self, weights)

    def features(self, images_BCHW: Tensor) -> Tensor:
        """The vectors, of shape (B, F)."""
        return images_BCHW
