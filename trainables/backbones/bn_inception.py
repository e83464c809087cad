"""Inception with batch normalisation, compatible with the published ImageNet weights.

B = batch, C = channels, H, W = height and width in pixels.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from podium.trainables.network.backbone_base import Backbone
from podium.trainables.network.load_weights import he_start, start_from
from podium.trainables.network.pixel_input import PixelInput
from podium.trainables.settings.trial_settings import RANDOM_WEIGHTS


@dataclass(frozen=True, slots=True)
class _Block:
    """Channels of the branches of an inception block; its 3 x 3 pooling is the last branch.

    Attributes:
        one: channels of the 1 x 1 convolution; 0 if there is none, as in blocks of stride 2.
        three: channels of a 1 x 1 convolution and of the 3 x 3 one after it.
        double: channels of a 1 x 1 convolution and of both 3 x 3 ones after it.
        pool: ``average`` or ``max``.
        projection: channels of the 1 x 1 convolution after pooling; 0 if there is none.
        stride: stride of the last 3 x 3 convolutions and of the pooling.
    """

    one: int
    three: tuple[int, int]
    double: tuple[int, int]
    pool: str
    projection: int
    stride: int = 1

    def channels(self, before: int) -> int:
        """Of the block's output."""
        return self.one + self.three[1] + self.double[1] + (self.projection or before)


_BLOCKS = {
    "3a": _Block(64, (64, 64), (64, 96), "average", 32),
    "3b": _Block(64, (64, 96), (64, 96), "average", 64),
    "3c": _Block(0, (128, 160), (64, 96), "max", 0, stride=2),
    "4a": _Block(224, (64, 96), (96, 128), "average", 128),
    "4b": _Block(192, (96, 128), (96, 128), "average", 128),
    "4c": _Block(160, (128, 160), (128, 160), "average", 128),
    "4d": _Block(96, (128, 192), (160, 192), "average", 128),
    "4e": _Block(0, (128, 192), (192, 256), "max", 0, stride=2),
    "5a": _Block(352, (192, 320), (160, 224), "average", 128),
    "5b": _Block(352, (192, 320), (192, 224), "max", 128),
}

# As torch counts it: running statistics are nine tenths the last batch's. That is Caffe's 0.9,
# which means the opposite, copied; it is what the field trained with (Proxy-Anchor's network among
# others), and acts only where statistics are not frozen. Cadene's last version has torch's 0.1.
_MOMENTUM = 0.9


class BNInception(Backbone):
    """Inception with batch normalisation (Ioffe and Szegedy 2015): F = 1024.

    Layers bear the names of `bninception` in Cadene's pretrained-models.pytorch, so that its
    ImageNet weights, a conversion from Caffe, go in: blue first, 0 to 255, minus a mean. These
    hold statistics and scales of BatchNorm with shape (1, C).
    """

    has_map = True
    # Of most other sides the branches of a block of stride 2 give maps of different sides.
    side_multiple = 32
    side_slack = 6
    min_side = 32
    weights_note = (
        "they are published as bn_inception-52deb4733.pth with Cadene's pretrained-models.pytorch "
        "(http://data.lip6.fr/cadene/pretrainedmodels/bn_inception-52deb4733.pth)"
    )
    num_features = 1024
    giga_multiply_adds = 2.03

    def __init__(self, weights: str = RANDOM_WEIGHTS) -> None:
        super().__init__(weights)
        self.pixels = PixelInput((104.0, 117.0, 128.0), (1.0, 1.0, 1.0), scale=1.0, is_bgr=True)
        self.network = nn.ModuleDict(_layers())
        he_start(self.network)
        start_from(self.network, weights, unused=("last_linear.",), adapt=self._squeezed)

    def features(self, images_BCHW: Tensor) -> Tensor:
        """See `Backbone.features`; the map's side is 32 times smaller."""
        map_ = self._conv("conv1_7x7_s2", self.pixels(images_BCHW))
        map_ = functional.max_pool2d(map_, 3, 2, ceil_mode=True)
        map_ = self._conv("conv2_3x3", self._conv("conv2_3x3_reduce", map_))
        map_ = functional.max_pool2d(map_, 3, 2, ceil_mode=True)
        for name, block in _BLOCKS.items():
            map_ = self._inception(f"inception_{name}", block, map_)
        return map_

    def _inception(self, name: str, block: _Block, map_: Tensor) -> Tensor:
        three = self._conv(f"{name}_3x3", self._conv(f"{name}_3x3_reduce", map_))
        double = map_
        for layer in ("reduce", "1", "2"):
            double = self._conv(f"{name}_double_3x3_{layer}", double)
        if block.pool == "average":
            pooled = functional.avg_pool2d(map_, 3, 1, padding=1)
        else:
            # Blocks of stride 2 pool without a border, rounding up.
            padding = 1 if block.stride == 1 else 0
            pooled = functional.max_pool2d(map_, 3, block.stride, padding, ceil_mode=True)
        branches = [three, double]
        if block.one:
            branches.insert(0, self._conv(f"{name}_1x1", map_))
        if block.projection:
            pooled = self._conv(f"{name}_pool_proj", pooled)
        return torch.cat([*branches, pooled], 1)

    def _conv(self, name: str, map_: Tensor) -> Tensor:
        """Convolution, BatchNorm, ReLU."""
        return functional.relu(self.network[f"{name}_bn"](self.network[name](map_)))

    def _squeezed(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """Tensors of shape (1, C) as (C,) where the network has (C,)."""
        shapes = {name: value.shape for name, value in self.network.state_dict().items()}
        return {
            name: tensor.squeeze(0)
            if name in shapes and tensor.ndim == 2 and len(shapes[name]) == 1
            else tensor
            for name, tensor in tensors.items()
        }


def _layers() -> dict[str, nn.Module]:
    """All convolutions and their BatchNorms by their published names."""
    layers = {
        **_conv_layers("conv1_7x7_s2", 3, 64, kernel=7, stride=2),
        **_conv_layers("conv2_3x3_reduce", 64, 64),
        **_conv_layers("conv2_3x3", 64, 192, kernel=3),
    }
    before = 192
    for name, block in _BLOCKS.items():
        layers |= _block_layers(f"inception_{name}", block, before)
        before = block.channels(before)
    return layers


def _block_layers(name: str, block: _Block, before: int) -> dict[str, nn.Module]:
    (reduced, three), (double_reduced, double) = block.three, block.double
    stride = block.stride
    return {
        **(_conv_layers(f"{name}_1x1", before, block.one) if block.one else {}),
        **_conv_layers(f"{name}_3x3_reduce", before, reduced),
        **_conv_layers(f"{name}_3x3", reduced, three, kernel=3, stride=stride),
        **_conv_layers(f"{name}_double_3x3_reduce", before, double_reduced),
        **_conv_layers(f"{name}_double_3x3_1", double_reduced, double, kernel=3),
        **_conv_layers(f"{name}_double_3x3_2", double, double, kernel=3, stride=stride),
        **(
            _conv_layers(f"{name}_pool_proj", before, block.projection) if block.projection else {}
        ),
    }


def _conv_layers(
    name: str, before: int, after: int, *, kernel: int = 1, stride: int = 1
) -> dict[str, nn.Module]:
    return {
        name: nn.Conv2d(before, after, kernel, stride, padding=kernel // 2),
        f"{name}_bn": nn.BatchNorm2d(after, momentum=_MOMENTUM),
    }
