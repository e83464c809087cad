"""Similarities of anchors to their partners, and masked sums over them.

B = batch, D = embedding dimension, R = references: the batch itself, unless it brings others.
"""

import torch
from torch import Tensor

from podium.trainables.loss_composition.batch import Batch

# exp(-80) is below the rounding of a sum that holds exp(0), even in float64. Smaller exponents are
# cut there, since exp is ten times slower where float32 underflows.
_NEGLIGIBLE = -80.0

# Below this a squared distance has no digit left, and the root's gradient would be endless.
_SMALLEST_SQUARE = 1e-12

# Nearer to 1 the derivative of the arc cosine is endless.
_LARGEST_COSINE = 1.0 - 1e-7


def cosines(batch: Batch) -> Tensor:
    """S_BR: the cosine of every anchor to every reference."""
    if batch.references is None:
        return batch.normalised_BD @ batch.normalised_BD.T
    return batch.normalised_BD @ batch.references.normalised_RD.T


def dot_products(batch: Batch) -> Tensor:
    """The product of every anchor with every reference, as the network gave them: (B, R)."""
    if batch.references is None:
        return batch.embeddings_BD @ batch.embeddings_BD.T
    return batch.embeddings_BD @ batch.references.embeddings_RD.T


def squared_distances(x_BD: Tensor, y_RD: Tensor) -> Tensor:
    """Squared Euclidean distance of every row to every row, at least 0: shape (B, R)."""
    squares_BR = x_BD.square().sum(1)[:, None] + y_RD.square().sum(1)[None, :]
    return (squares_BR - 2.0 * x_BD @ y_RD.T).clamp(min=0.0)


def distances(squared: Tensor) -> Tensor:
    """Roots of squared distances; at least 1e-6, where the gradient is 0."""
    return squared.clamp(min=_SMALLEST_SQUARE).sqrt()


def angles(cosines: Tensor) -> Tensor:
    """Angles in radians. Of cosines within 1e-7 of 1 or -1 they are cut, and have no gradient."""
    return cosines.clamp(-_LARGEST_COSINE, _LARGEST_COSINE).acos()


def log_sum_exp(exponents: Tensor, mask: Tensor, dim: int) -> Tensor:
    """log(sum of exp(exponents) where ``mask`` holds), without overflow.

    Where the mask holds nowhere the value is 0 and so is its gradient: ask `mask.any(dim)`.
    """
    top = exponents.detach().masked_fill(~mask, -torch.inf).amax(dim, keepdim=True)
    top = top.where(mask.any(dim, keepdim=True), 0.0)
    powers = (exponents - top).clamp(_NEGLIGIBLE, 1.0).exp().where(mask, 0.0)
    total = powers.sum(dim)
    return top.squeeze(dim) + total.where(mask.any(dim), 1.0).log()


def log1p_sum_exp(exponents: Tensor, mask: Tensor, dim: int) -> Tensor:
    """log(1 + sum of exp(exponents) where ``mask`` holds), without overflow.

    Where the mask holds nowhere the value is 0 and so is its gradient.
    """
    top = exponents.detach().where(mask, 0.0).amax(dim, keepdim=True).clamp(min=0.0)
    # Only what is masked lies above 0; at 1 it is finite, and no real term sits on the edge of the
    # clamp, where its gradient is a matter of convention.
    powers = (exponents - top).clamp(_NEGLIGIBLE, 1.0).exp().where(mask, 0.0)
    top = top.squeeze(dim)
    return top + torch.log1p(powers.sum(dim) + torch.expm1(-top))


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """Mean of ``values`` where ``mask`` holds; 0, with gradient 0, where it holds nowhere."""
    return values.where(mask, 0.0).sum() / mask.sum().clamp(min=1)
