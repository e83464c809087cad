"""All images of a role where the network is, cut and resized there, a batch at once.

N = images, B = images of a batch, P = pixels of all images, Y, X = height and width of the largest
crop of a batch, S = side of the network's input. Images are RGB.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import psutil
import torch
from torch import Tensor

from podium.trainables.batches.image_batches import ImageBatches, evaluation_chunk
from podium.trainables.batches.random_crops import (
    Crop,
    are_flipped,
    centre_boxes,
    draw_crops,
)
from podium.trainables.device import sent
from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.decoded_pixels import Pixels

_GB = 2**30

# Of the free memory, what the network, its gradients and the crops of a batch may need.
_KEPT_FREE_BYTES = 2 * _GB

# Of crops of one batch that are resized at once: 200 MB in float32.
_MAX_CROP_PIXELS = 2**24


class DeviceBatches(ImageBatches):
    """RGB images of the cache, cut as by `HostBatches`.

    Boxes, flips and weights are the same; numbers are rounded in between, so grey levels may be up
    to two from what `HostBatches` gives; at 224 pixels they are 0.005 from it in the mean.

    Args:
        pixels: RGB images whose shorter side is resized for evaluation.
        indices_N: positions of the role's images among ``pixels``.
        image_size: S, at most the shorter side.
        crop: as of `HostBatches`.
        device: device of the network.

    Raises:
        TrialInputError: the images do not fit into the free memory of the device.
    """

    def __init__(
        self,
        pixels: Pixels,
        indices_N: npt.NDArray[np.int64],
        *,
        image_size: int,
        crop: Crop | None,
        device: torch.device,
    ) -> None:
        shapes_N = [pixels.image(int(index)).shape for index in indices_N]
        self._sizes_N2 = np.array([shape[:2] for shape in shapes_N], dtype=np.int64)
        ends_N = self._sizes_N2.prod(axis=1).cumsum()
        self._firsts_N = np.concatenate([[0], ends_N[:-1]])
        _assert_fits(3 * int(ends_N[-1]), len(indices_N), device)
        self._pixels_P3 = torch.empty((int(ends_N[-1]), 3), dtype=torch.uint8, device=device)
        for index, first, end in zip(indices_N, self._firsts_N, ends_N, strict=True):
            image = torch.from_numpy(pixels.image(int(index)).reshape(-1, 3).copy())
            self._pixels_P3[first:end].copy_(image)
        self._image_size = image_size
        self._crop = crop
        self._device = device

    def training(
        self, batches: Iterable[npt.NDArray[np.int64]], seed: int, num_views: int
    ) -> Iterator[Tensor]:
        """See `ImageBatches.training`; boxes and flips are those of `HostBatches`."""
        generator = np.random.default_rng(seed)
        for positions in batches:
            chosen_B = np.tile(positions, num_views)
            if self._crop is None:
                yield self._centres(chosen_B)
                continue
            draws_BA = draw_crops(len(chosen_B), generator)
            boxes_B4 = self._crop(draws_BA, self._sizes_N2[chosen_B])
            yield self._resized(chosen_B, boxes_B4, are_flipped(draws_BA))

    def evaluation(self) -> Iterator[Tensor]:
        """See `ImageBatches.evaluation`."""
        chunk = evaluation_chunk(self._image_size)
        all_N = np.arange(len(self._firsts_N))
        for first in range(0, len(all_N), chunk):
            yield self._centres(all_N[first : first + chunk])

    def _centres(self, chosen_B: npt.NDArray[np.int64]) -> Tensor:
        boxes_B4 = centre_boxes(self._sizes_N2[chosen_B], self._image_size)
        return self._crops(chosen_B, boxes_B4).permute(0, 3, 1, 2).contiguous()

    def _crops(self, chosen_B: npt.NDArray[np.int64], boxes_B4: npt.NDArray[np.int64]) -> Tensor:
        """Each box, its last row and column repeated up to the largest one; (B, Y, X, 3)."""
        starts_B = self._firsts_N[chosen_B]
        widths_B = self._sizes_N2[chosen_B, 1]
        tops_B, lefts_B, box_heights_B, box_widths_B = boxes_B4.T
        corners_B = starts_B + tops_B * widths_B + lefts_B
        facts_5B = self._to_device(
            np.stack([corners_B, widths_B, box_heights_B - 1, box_widths_B - 1])
        )
        corners_B11, strides_B11, bottoms_B11, rights_B11 = facts_5B[:, :, None, None]
        rows_Y1 = torch.arange(int(box_heights_B.max()), device=self._device)[:, None]
        columns_X = torch.arange(int(box_widths_B.max()), device=self._device)
        rows_BY1 = torch.minimum(rows_Y1, bottoms_B11) * strides_B11
        places_BYX = corners_B11 + rows_BY1 + torch.minimum(columns_X, rights_B11)
        return self._pixels_P3[places_BYX]

    def _resized(
        self,
        chosen_B: npt.NDArray[np.int64],
        boxes_B4: npt.NDArray[np.int64],
        is_flipped_B: npt.NDArray[np.bool_],
    ) -> Tensor:
        pixels_of_largest = int(boxes_B4[:, 2].max() * boxes_B4[:, 3].max())
        chunk = max(1, _MAX_CROP_PIXELS // pixels_of_largest)
        parts = [slice(first, first + chunk) for first in range(0, len(chosen_B), chunk)]
        # A caller's autocast would compute grey levels in half precision.
        with torch.autocast(self._device.type, enabled=False):
            return torch.cat(
                [
                    self._resized_part(chosen_B[part], boxes_B4[part], is_flipped_B[part])
                    for part in parts
                ]
            )

    def _resized_part(
        self,
        chosen_B: npt.NDArray[np.int64],
        boxes_B4: npt.NDArray[np.int64],
        is_flipped_B: npt.NDArray[np.bool_],
    ) -> Tensor:
        """(B, 3, S, S): columns first, rounded in between, as Pillow does."""
        crops_BYX3 = self._crops(chosen_B, boxes_B4)
        batch, largest_height, largest_width, _ = crops_BYX3.shape
        heights_B, widths_B = self._to_device(boxes_B4[:, 2:].T)
        columns_BXS = _weights(widths_B, largest_width, self._image_size).mT
        is_flipped_B11 = self._to_device(is_flipped_B)[:, None, None]
        columns_BXS = torch.where(is_flipped_B11, columns_BXS.flip(2), columns_BXS)
        lines = crops_BYX3.transpose(2, 3).reshape(batch, -1, largest_width).float()
        narrow_BYs = _grey_levels(lines @ columns_BXS).view(batch, largest_height, -1)
        rows_BSY = _weights(heights_B, largest_height, self._image_size)
        resized_BS3S = _grey_levels(rows_BSY @ narrow_BYs).view(
            batch, self._image_size, 3, self._image_size
        )
        return resized_BS3S.transpose(1, 2).byte().contiguous()

    def _to_device(self, values: npt.NDArray[np.generic]) -> Tensor:
        return sent(torch.from_numpy(np.ascontiguousarray(values)), self._device)


def _weights(lengths_B: Tensor, longest: int, side: int) -> Tensor:
    """How much each pixel of a line counts in each pixel of the line resized to ``side``.

    A triangle around the place in the line that falls on the new pixel's centre, as wide as two
    new pixels, or two old ones where the line grows: bilinear with antialias.

    Args:
        lengths_B: pixels of each line, at least 1.
        longest: the longest of them; what comes behind a line's end does not count.
        side: S.

    Returns:
        Shape (B, S, ``longest``); rows add up to 1.
    """
    scales_B11 = lengths_B.float()[:, None, None] / side
    centres_BS1 = (torch.arange(side, device=lengths_B.device)[:, None] + 0.5) * scales_B11
    places_L = torch.arange(longest, device=lengths_B.device)
    distances_BSL = (places_L + 0.5 - centres_BS1).abs() / scales_B11.clamp(min=1)
    weights_BSL = (1 - distances_BSL).clamp(min=0) * (places_L < lengths_B[:, None, None])
    return weights_BSL / weights_BSL.sum(dim=2, keepdim=True)


def _grey_levels(values: Tensor) -> Tensor:
    """Rounded half up, within what a byte holds."""
    return (values + 0.5).floor().clamp(0, 255)


def _assert_fits(num_bytes: int, num_images: int, device: torch.device) -> None:
    if device.type == "cuda":
        free_bytes, _ = torch.cuda.mem_get_info(device)
    else:
        free_bytes = psutil.virtual_memory().available
    if num_bytes > free_bytes - _KEPT_FREE_BYTES:
        raise TrialInputError(
            f"training.loader 'device': {num_images} images need {num_bytes} bytes "
            f"({num_bytes / _GB:.1f} GiB) on {device}, but {free_bytes} bytes "
            f"({free_bytes / _GB:.1f} GiB) are free there and {_KEPT_FREE_BYTES / _GB:.0f} GiB of "
            "them are kept for the network; use loader 'host'"
        )
