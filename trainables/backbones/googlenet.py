"""GoogLeNet."""

from typing import Any

import torchvision
from torch import Tensor

from podium.trainables.backbones._torchvision import TorchvisionBackbone
from podium.trainables.network.load_weights import he_start
from podium.trainables.network.pixel_input import PixelInput


class GoogLeNet(TorchvisionBackbone):
    """torchvision's googlenet (Szegedy et al. 2015, with BatchNorm): F = 1024.

    Its weights come from TensorFlow and expect pixels in [-1, 1]. torchvision gets there in two
    steps, ImageNet's mean and deviation and then ``transform_input=True``; here it is one. Code
    that switches the second step off feeds these weights pixels of another scale.
    """

    has_map = True
    min_side = 15
    published_weights = ("IMAGENET1K_V1",)
    num_features = 1024
    giga_multiply_adds = 1.5
    classifier = ("aux1", "aux2", "avgpool", "dropout", "fc")

    def make_network(self) -> Any:
        """See `TorchvisionBackbone.make_network`; without the auxiliary classifiers."""
        network = torchvision.models.googlenet(
            weights=None, transform_input=False, aux_logits=False, init_weights=False
        )
        he_start(network)
        return network

    def make_pixels(self) -> PixelInput:
        """RGB in [-1, 1]."""
        return PixelInput((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))

    def of_input(self, inputs_B3HW: Tensor) -> Tensor:
        """The last map, of a side 32 times smaller."""
        net = self.network
        map_ = net.maxpool1(net.conv1(inputs_B3HW))
        map_ = net.maxpool2(net.conv3(net.conv2(map_)))
        map_ = net.maxpool3(net.inception3b(net.inception3a(map_)))
        for block in (net.inception4a, net.inception4b, net.inception4c, net.inception4d):
            map_ = block(map_)
        map_ = net.maxpool4(net.inception4e(map_))
        found: Tensor = net.inception5b(net.inception5a(map_))
        return found
