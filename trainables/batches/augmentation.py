"""What the pixels of an image go through on their way to the network.

B = batch, C = channels, H, W = height and width in pixels, S = side of the network's input.
"""

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch import Tensor
from torch.nn.functional import interpolate, pad

from podium.trainables.batches.random_crops import centre_boxes
from podium.trainables.device import sent
from podium.trainables.file_caches.resized_images import resized_size


def shifted(images_BHW: Tensor, max_pixels: int, generator: torch.Generator) -> Tensor:
    """Each image moved by its own whole number of pixels along both axes; 0 moves in.

    Args:
        images_BHW: uint8 images, on any device.
        max_pixels: the most either axis moves, both ways; every shift is equally likely.
        generator: on the CPU, so that shifts are the same wherever the images are.
    """
    batch, height, width = images_BHW.shape
    device = images_BHW.device
    firsts_B2 = sent(torch.randint(2 * max_pixels + 1, (batch, 2), generator=generator), device)
    rows_BH = firsts_B2[:, :1] + torch.arange(height, device=device)
    columns_BW = firsts_B2[:, 1:] + torch.arange(width, device=device)
    padded = pad(images_BHW, (max_pixels,) * 4)
    which_B = torch.arange(batch, device=device)
    return padded[which_B[:, None, None], rows_BH[:, :, None], columns_BW[:, None, :]]


def resized_crop(
    image_HWC: npt.NDArray[np.uint8],
    box: npt.NDArray[np.int64],
    side: int,
    *,
    is_flipped: bool,
) -> npt.NDArray[np.uint8]:
    """Part of an image, resized to (C, S, S), left and right exchanged if ``is_flipped``.

    Bilinear with antialias, as torchvision's ``resized_crop``: what lies outside the box does not
    count. At most one grey level from what Pillow gives, in one pixel of a million two, at a third
    of its time. On one thread: torch's own copies and flips would start threads in every thread
    that makes images.

    Args:
        image_HWC: may be memory-mapped; only the box is read.
        box: top, left, height, width; within the image.
        side: S.
        is_flipped: whether to flip.
    """
    crop_HWC = torch.from_numpy(_cut(image_HWC, box).copy())
    resized_1CSS: Tensor = interpolate(
        crop_HWC.permute(2, 0, 1)[None], (side, side), mode="bilinear", antialias=True
    )
    image_CSS: npt.NDArray[np.uint8] = resized_1CSS[0].numpy()
    return image_CSS[:, :, ::-1] if is_flipped else image_CSS


def centre_crop(
    image_HWC: npt.NDArray[np.uint8], shorter_side: int, side: int
) -> npt.NDArray[np.uint8]:
    """Centre (C, S, S) of an image whose shorter side is resized first, unless it fits already.

    The same bits as torchvision's ``Resize`` (bilinear, antialias) and ``CenterCrop`` of a Pillow
    image. A view, where nothing is resized.

    Args:
        image_HWC: RGB if it has to be resized; may be memory-mapped.
        shorter_side: shorter side of the resized image in pixels, at least ``side``.
        side: S.
    """
    width, height = resized_size(image_HWC.shape[1], image_HWC.shape[0], shorter_side)
    if image_HWC.shape[:2] != (height, width):
        image = Image.fromarray(image_HWC).resize((width, height), Image.Resampling.BILINEAR)
        image_HWC = np.asarray(image)
    (box,) = centre_boxes(np.array([[height, width]]), side)
    return _cut(image_HWC, box).transpose(2, 0, 1)


def _cut(image_HWC: npt.NDArray[np.uint8], box: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    top, left, height, width = box.tolist()
    return image_HWC[top : top + height, left : left + width]
