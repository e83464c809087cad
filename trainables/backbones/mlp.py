"""A small network on vectors that were computed before. B = batch, F = features of the input."""

from torch import Tensor, nn

from podium.trainables.backbones._vectors import VectorBackbone
from podium.trainables.network.load_weights import start_from
from podium.trainables.settings.trial_settings import RANDOM_WEIGHTS

_HIDDEN = 512


class Mlp(VectorBackbone):
    """Two hidden layers of 512 with ReLU; the embedding layer follows them."""

    has_map = False
    takes_features = True
    num_features = 512  # _HIDDEN

    def __init__(self, weights: str = RANDOM_WEIGHTS, *, num_inputs: int) -> None:
        super().__init__(weights, num_inputs=num_inputs)
        self.layers = nn.Sequential(
            nn.Linear(num_inputs, _HIDDEN), nn.ReLU(), nn.Linear(_HIDDEN, _HIDDEN), nn.ReLU()
        )
        start_from(self, weights)

    def features(self, images_BCHW: Tensor) -> Tensor:
        """See `Backbone.features`; of vectors of shape (B, F)."""
        found: Tensor = self.layers(images_BCHW)
        return found
