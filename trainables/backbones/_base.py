"""What every backbone is: images in, features out.

B = batch, C = channels, H, W = height and width in pixels, F = features, h, w = of a map.
"""

from abc import abstractmethod
from typing import ClassVar

from torch import Tensor, nn

from trainables.settings import RANDOM_WEIGHTS

__all__ = ["Backbone"]


class Backbone(nn.Module):
    """A network without its embedding layer.

    How pixels become network input (scale, mean, channels) goes with the weights, so a backbone
    takes images as the data set holds them.

    The class attributes are stated as literals in the body of each class: plans read them from the
    source, without torch.

    Args:
        weights: one of ``published_weights``, the path of a file, or ``random``.

    Attributes:
        has_map: whether the features are a map that the head pools.
        published_weights: names of weights that can be downloaded; the first is what ``imagenet``
            means. None: the network always starts from nothing.
        side_multiple: the height and width of images must be multiples of it.
        num_features: F.
    """

    has_map: ClassVar[bool]
    published_weights: ClassVar[tuple[str, ...]] = ()
    side_multiple: ClassVar[int] = 1
    num_features: int

    @abstractmethod
    def __init__(self, weights: str = RANDOM_WEIGHTS) -> None:
        super().__init__()

    @abstractmethod
    def forward(self, images_BCHW: Tensor) -> Tensor:
        """Features of uint8 images, grey (C = 1) or RGB (C = 3).

        Returns:
            A map of shape (B, F, h, w) if ``has_map``, else features of shape (B, F).
        """
