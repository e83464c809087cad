"""What the networks of torchvision share: building, weights, input.

B = batch, C = channels, H, W = height and width in pixels.
"""

import pickle
from abc import abstractmethod
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import torch
import torchvision
from torch import Tensor

from podium.trainables.errors import TrialInputError
from podium.trainables.network.backbone_base import Backbone
from podium.trainables.network.initial_weights import published_name
from podium.trainables.network.load_weights import fill, start_from
from podium.trainables.network.pixel_input import IMAGENET_MEAN, IMAGENET_STD, PixelInput
from podium.trainables.settings.trial_settings import RANDOM_WEIGHTS


class TorchvisionBackbone(Backbone):
    """A network of torchvision up to its global pooling, called as its module is called here.

    Attributes:
        classifier: paths of the submodules that are dropped; published weights may have them.
    """

    classifier: tuple[str, ...]

    def __init__(self, weights: str = RANDOM_WEIGHTS) -> None:
        super().__init__(weights)
        self.pixels = self.make_pixels()
        self.network = self.make_network()
        for path in self.classifier:
            parent, _, name = path.rpartition(".")
            delattr(self.network.get_submodule(parent), name)
        self._start_from(weights)

    def make_network(self) -> Any:
        """The module of torchvision with its classifier, as it starts from nothing."""
        return torchvision.models.get_model(self.label, weights=None)

    def make_pixels(self) -> PixelInput:
        """What goes with the weights: RGB in [0, 1], normalised by the ImageNet statistics."""
        return PixelInput(IMAGENET_MEAN, IMAGENET_STD)

    def adapt(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """Bring network and weights together; by default they fit."""
        return tensors

    def features(self, images_BCHW: Tensor) -> Tensor:
        """See `Backbone.features`."""
        return self.of_input(self.pixels(images_BCHW))

    @abstractmethod
    def of_input(self, inputs_B3HW: Tensor) -> Tensor:
        """Map or features of what `make_pixels` gives."""

    def _start_from(self, weights: str) -> None:
        unused = [f"{name}." for name in self.classifier]
        name = published_name(weights, self.published_weights)
        if name is None:
            start_from(self.network, weights, unused=unused, adapt=self.adapt)
            return
        published = torchvision.models.get_model_weights(self.label)[name]
        tensors = _download(f"{self.label}: {name}", published)
        fill(self.network, self.adapt(tensors), published.url, unused=unused)


class ResNet(TorchvisionBackbone):
    """Residual networks (He et al. 2016; torchvision strides in the 3 x 3 convolution)."""

    classifier = ("avgpool", "fc")

    def of_input(self, inputs_B3HW: Tensor) -> Tensor:
        """The last map, of a side 32 times smaller."""
        net = self.network
        map_ = net.maxpool(net.relu(net.bn1(net.conv1(inputs_B3HW))))
        found: Tensor = net.layer4(net.layer3(net.layer2(net.layer1(map_))))
        return found


class FeatureNetwork(TorchvisionBackbone):
    """Networks that are one sequence of layers up to their pooling."""

    classifier = ("avgpool", "classifier")

    def of_input(self, inputs_B3HW: Tensor) -> Tensor:
        """The last map, of a side 32 times smaller."""
        found: Tensor = self.network.features(inputs_B3HW)
        return found


def _download(what: str, published: Any) -> dict[str, Tensor]:
    """Published weights through the cache that all users of torchvision share."""
    folder = Path(torch.hub.get_dir()) / "checkpoints"
    file = Path(urlsplit(published.url).path).name
    is_there = (folder / file).exists()
    try:
        # The hash is that of downloads: what lies in the cache already is not checked by it.
        return dict(published.get_state_dict(progress=False, check_hash=True, weights_only=True))
    except (OSError, RuntimeError, EOFError, ValueError, LookupError, pickle.PickleError) as error:
        # Offline, disk full, wrong hash; or what is in the cache is cut short or something else.
        if is_there:
            raise TrialInputError(
                f"{what}: {folder / file} cannot be read ({type(error).__name__}): delete it, and "
                f"it is downloaded again from {published.url}"
            ) from error
        raise TrialInputError(
            f"{what} is not in {folder} and could not be downloaded ({error}): put {file} from "
            f"{published.url} there (TORCH_HOME chooses the folder), or give weights: PATH or "
            f"weights: {RANDOM_WEIGHTS}"
        ) from error
