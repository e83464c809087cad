"""Vision transformers of torchvision, for images of any number of patches.

B = batch, H, W = height and width in pixels, h, w = in patches, s = patches along a side of the
images the weights were trained on, L = tokens (patches and the class token), F = features.
"""

from math import isqrt

import torch
from torch import Tensor, nn
from torch.nn import functional

from podium.trainables.backbones._torchvision import TorchvisionBackbone

_POSITIONS = "encoder.pos_embedding"


class VisionTransformer(TorchvisionBackbone):
    """A vision transformer (Dosovitskiy et al. 2021) that gives its class token, normalised.

    For images of other sizes its positions are resampled as torchvision does it, bicubic between
    the corners.
    """

    classifier = ("heads",)

    def of_input(self, inputs_B3HW: Tensor) -> Tensor:
        """Features of shape (B, F)."""
        net, encoder = self.network, self.network.encoder
        map_BFhw = net.conv_proj(inputs_B3HW)
        patches_BLF = map_BFhw.flatten(2).transpose(1, 2)
        tokens_BLF = torch.cat([net.class_token.expand(len(patches_BLF), -1, -1), patches_BLF], 1)
        placed_BLF = tokens_BLF + _positions(encoder.pos_embedding, *map_BFhw.shape[2:])
        normalised_BLF: Tensor = encoder.ln(encoder.layers(encoder.dropout(placed_BLF)))
        return normalised_BLF[:, 0]

    def adapt(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """Make room for positions of weights that were trained on images of another size."""
        positions = tensors.get(_POSITIONS)
        if positions is not None and _is_square(positions, self.num_features):
            self.network.encoder.pos_embedding = nn.Parameter(torch.empty_like(positions))
        return tensors


def _is_square(positions: Tensor, num_features: int) -> bool:
    """Whether these are a class token and a square of patches."""
    if positions.ndim != 3 or (len(positions), positions.shape[2]) != (1, num_features):
        return False
    patches = positions.shape[1] - 1
    return patches > 0 and isqrt(patches) ** 2 == patches


def _positions(positions_1LF: Tensor, rows: int, columns: int) -> Tensor:
    """Embeddings of the class token and of ``rows`` x ``columns`` patches."""
    side = isqrt(positions_1LF.shape[1] - 1)
    if (rows, columns) == (side, side):
        return positions_1LF
    token_11F, patches_1LF = positions_1LF[:, :1], positions_1LF[:, 1:]
    with torch.autocast(positions_1LF.device.type, enabled=False):
        # Matrix products: the gradient of a bicubic resize is not deterministic on CUDA.
        grid_1hwF = torch.einsum(
            "hs,wt,bstf->bhwf",
            _resampling(side, rows, positions_1LF),
            _resampling(side, columns, positions_1LF),
            patches_1LF.reshape(1, side, side, -1),
        )
    return torch.cat([token_11F, grid_1hwF.flatten(1, 2)], dim=1)


@torch.no_grad()
def _resampling(before: int, after: int, like: Tensor) -> Tensor:
    """The matrix of shape (after, before) that resamples ``before`` values to ``after``."""
    units = torch.eye(before, dtype=like.dtype, device=like.device).view(1, before, before, 1)
    found = functional.interpolate(units, (after, 1), mode="bicubic", align_corners=True)
    return found[0, :, :, 0].T
