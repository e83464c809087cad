"""Masked sums over the pairs of a batch. B = batch, D = embedding dimension."""

import torch
from torch import Tensor

__all__ = ["cosines", "log1p_sum_exp", "masked_mean"]

# exp(-80) is below the rounding of a sum that holds exp(0), even in float64. Smaller exponents are
# cut there, since exp is ten times slower where float32 underflows.
_NEGLIGIBLE = -80.0


def cosines(normalised_BD: Tensor) -> Tensor:
    """S_BB: the cosine of every pair."""
    return normalised_BD @ normalised_BD.T


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
