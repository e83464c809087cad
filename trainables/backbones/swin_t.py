"""The tiny Swin transformer."""

from torch import Tensor

from podium.trainables.backbones._torchvision import TorchvisionBackbone


class SwinT(TorchvisionBackbone):
    """torchvision's swin_t, with its stochastic depth while training: F = 768.

    Its last LayerNorm is before the pooling, so the map is normalised. Images whose sides are no
    multiples of 32 are padded with zeros inside, as torchvision does it.
    """

    has_map = True
    published_weights = ("IMAGENET1K_V1",)
    side_multiple = 4
    num_features = 768
    giga_multiply_adds = 4.49
    classifier = ("avgpool", "flatten", "head")

    def of_input(self, inputs_B3HW: Tensor) -> Tensor:
        """The last map, of a side 32 times smaller."""
        net = self.network
        found: Tensor = net.permute(net.norm(net.features(inputs_B3HW)))
        return found
