"""What training images go through. B = batch, H, W = height and width in pixels."""

import torch
from torch import Tensor
from torch.nn.functional import pad

__all__ = ["shifted"]


def shifted(images_BHW: Tensor, max_pixels: int, generator: torch.Generator) -> Tensor:
    """Each image moved by its own whole number of pixels along both axes; 0 moves in.

    Args:
        images_BHW: on any device.
        max_pixels: the most either axis moves, both ways; every shift is equally likely.
        generator: on the CPU, so that shifts are the same wherever the images are.
    """
    batch, height, width = images_BHW.shape
    device = images_BHW.device
    firsts_B2 = torch.randint(2 * max_pixels + 1, (batch, 2), generator=generator).to(device)
    rows_BH = firsts_B2[:, :1] + torch.arange(height, device=device)
    columns_BW = firsts_B2[:, 1:] + torch.arange(width, device=device)
    padded = pad(images_BHW, (max_pixels,) * 4)
    which_B = torch.arange(batch, device=device)
    return padded[which_B[:, None, None], rows_BH[:, :, None], columns_BW[:, None, :]]
