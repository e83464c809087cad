"""The small network for glyphs.

B = batch, C = channels, H, W = height and width in pixels, F = features.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn

from trainables.backbones._base import Backbone
from trainables.errors import TrialInputError
from trainables.settings import RANDOM_WEIGHTS

__all__ = ["ConvSmall"]

_CHANNELS = (16, 32, 64)
_KERNELS = (5, 3, 3)
_STRIDE = 2
_GRID = 4  # features keep a 4 x 4 map: where a stroke lies is what tells letters apart
_MULTIPLE = _GRID * _STRIDE ** len(_CHANNELS)


class ConvSmall(Backbone):
    """Three strided convolutions with batch normalisation, averaged to a 4 x 4 map: F = 1024.

    The quickest of a dozen small networks to learn glyphs, counted in CPU seconds: a step of 64
    images of 32 x 32 takes about 7 ms on one core (`benchmarks/trial.py`). Averaging over the
    whole map instead loses about 20 points of Recall@1.

    Images may have any height and width that are multiples of 32. Of RGB images it sees the mean
    of the channels.
    """

    has_map: ClassVar[bool] = False
    published_weights: ClassVar[tuple[str, ...]] = ()
    side_multiple: ClassVar[int] = 32
    num_features = _CHANNELS[-1] * _GRID * _GRID

    def __init__(self, weights: str = RANDOM_WEIGHTS) -> None:
        super().__init__(weights)
        layers: list[nn.Module] = []
        before = 1
        for channels, kernel in zip(_CHANNELS, _KERNELS, strict=True):
            layers += [
                nn.Conv2d(before, channels, kernel, _STRIDE, padding=kernel // 2, bias=False),
                nn.BatchNorm2d(channels),
                nn.ReLU(),
            ]
            before = channels
        self.layers = nn.Sequential(*layers)
        # A fifth quicker than channels first on CPUs.
        self.to(memory_format=torch.channels_last)

    def forward(self, images_BCHW: Tensor) -> Tensor:
        """See `Backbone.forward`.

        Raises:
            TrialInputError: the height or width is no multiple of 32.
        """
        height, width = images_BCHW.shape[2:]
        if height % _MULTIPLE or width % _MULTIPLE:
            raise TrialInputError(
                f"conv_small takes images whose sides are multiples of {_MULTIPLE}, but got "
                f"{height} x {width}"
            )
        # Glyphs are mostly background: 0 stays 0, as do the borders padded with it.
        grey_B1HW = images_BCHW.float().mean(1, keepdim=True)
        map_ = self.layers(grey_B1HW / 255.0)
        cells = map_.unflatten(3, (_GRID, -1)).unflatten(2, (_GRID, -1))
        features: Tensor = cells.mean((3, 5)).flatten(1)
        return features
