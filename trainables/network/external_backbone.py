"""A network of another library, or of the user, by import path.

B = batch, C = channels, H, W = height and width in pixels, F = features, h, w = of a map.
"""

from typing import Any

from torch import Tensor

from podium.trainables.errors import TrialInputError
from podium.trainables.importable_code import module_class
from podium.trainables.network.backbone_base import Backbone
from podium.trainables.network.load_weights import start_from
from podium.trainables.network.pixel_input import IMAGENET_MEAN, IMAGENET_STD, PixelInput
from podium.trainables.settings.trial_settings import RANDOM_WEIGHTS


class ExternalBackbone(Backbone):
    """Wraps a module that was not made for podium.

    It is made without arguments, gets float32 RGB of shape (B, 3, H, W), normalised by ImageNet's
    mean and deviation, and gives features of shape (B, F) or a map of shape (B, F, h, w). It says
    which by its attributes ``num_features`` (F) and ``has_map`` (features, if it has none).
    ``weights: random`` is as it makes itself.

    Args:
        name: the import path, for messages.
        network: the module.
        weights: ``random``, or the path of a file of its state dict.

    Raises:
        TrialInputError: the module does not say how many features it gives, or the weights do not
            fit.
    """

    def __init__(self, name: str, network: Any, weights: str = RANDOM_WEIGHTS) -> None:
        self._name = name
        super().__init__(weights)
        self.num_features = getattr(network, "num_features", 0)
        if type(self.num_features) is not int or self.num_features < 1:
            raise TrialInputError(
                f"backbone {name} must have an attribute num_features, a whole number above 0; "
                f"got {self.num_features or 'none'}"
            )
        self.has_map = bool(getattr(network, "has_map", False))
        self.pixels = PixelInput(IMAGENET_MEAN, IMAGENET_STD)
        self.network = network
        start_from(network, weights)

    @property
    def label(self) -> str:
        """The import path."""
        return self._name

    def features(self, images_BCHW: Tensor) -> Tensor:
        """See `Backbone.features`.

        Raises:
            TrialInputError: the module gives another shape than it says.
        """
        found = self.network(self.pixels(images_BCHW))
        form = "(B, F, h, w)" if self.has_map else "(B, F)"
        expected = (len(images_BCHW), self.num_features)
        if isinstance(found, Tensor):
            if found.shape[:2] == expected and found.ndim == (4 if self.has_map else 2):
                return found
            what = f"shape {tuple(found.shape)}"
        else:
            what = f"a {type(found).__name__}"
        raise TrialInputError(
            f"backbone {self.label} must give a tensor of shape {form} with (B, F) = {expected}; "
            f"got {what}"
        )


def external_backbone(name: str, weights: str) -> Backbone:
    """The network at an import path ``package.module:Class``.

    A subclass of `Backbone` is taken as it is, anything else wrapped.

    Raises:
        TrialInputError: there is no such class, it cannot be made, or its weights are not there.
    """
    loaded = module_class("backbone", name)
    if issubclass(loaded, Backbone):
        backbone: Backbone = _made(name, loaded, weights)
        return backbone
    return ExternalBackbone(name, _made(name, loaded), weights)


def _made(name: str, loaded: type[Any], *arguments: str) -> Any:
    try:
        return loaded(*arguments)
    except TrialInputError:
        raise
    except Exception as error:  # constructors refuse by any of them
        kind = type(error).__name__
        raise TrialInputError(f"backbone {name} cannot be made: {kind}: {error}") from error
