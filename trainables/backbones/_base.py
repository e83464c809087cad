"""What every backbone is: images in, features out.

B = batch, H, W = height and width in pixels, F = features.
"""

from abc import abstractmethod

from torch import Tensor, nn

__all__ = ["Backbone"]


class Backbone(nn.Module):
    """A network without its embedding layer. The constructor takes no arguments.

    How pixels become network input (scale, mean, channels) goes with the weights, so a backbone
    takes images as the data set holds them.

    Attributes:
        num_features: F, the length of the features.
    """

    num_features: int

    @abstractmethod
    def forward(self, images_BHW: Tensor) -> Tensor:
        """Features of shape (B, F), float32, of grey images: uint8 of shape (B, H, W)."""
