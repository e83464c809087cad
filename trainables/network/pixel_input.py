"""From the pixels of a data set to the input of a network.

B = batch, C = channels of the images, H, W = height and width.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

# Of RGB in [0, 1], as torchvision's and most of timm's weights expect it.
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


class PixelInput(nn.Module):
    """``(pixels / scale - mean) / std`` for each channel, where the images are.

    A grey image becomes three equal channels. Nothing of this is part of a network's state.

    Args:
        mean: mean of the three channels, in the network's order and after ``scale``.
        std: likewise, above 0.
        scale: divisor of the pixels, which are 0 to 255.
        is_bgr: whether the network expects blue first.
    """

    factor_3HW: Tensor
    offset_3HW: Tensor

    def __init__(
        self,
        mean: Sequence[float],
        std: Sequence[float],
        *,
        scale: float = 255.0,
        is_bgr: bool = False,
    ) -> None:
        super().__init__()
        mean_3, std_3 = torch.tensor([mean, std], dtype=torch.float64)
        factor_3, offset_3 = 1.0 / (scale * std_3), -mean_3 / std_3
        self.register_buffer("factor_3HW", factor_3.float().view(3, 1, 1), persistent=False)
        self.register_buffer("offset_3HW", offset_3.float().view(3, 1, 1), persistent=False)
        self._is_bgr = is_bgr

    def forward(self, images_BCHW: Tensor) -> Tensor:
        """Network input of shape (B, 3, H, W), float32, of uint8 images with C = 1 or 3."""
        images_B3HW = images_BCHW.expand(-1, 3, -1, -1)
        if self._is_bgr and images_BCHW.shape[1] == 3:
            images_B3HW = images_B3HW.flip(1)
        pixels_B3HW = images_B3HW.to(self.factor_3HW.dtype)
        return torch.addcmul(self.offset_3HW, pixels_B3HW, self.factor_3HW)
