"""Masked sums over the pairs of a batch. B = batch, D = embedding dimension."""

import torch
from torch import Tensor
from torch.nn.functional import softplus

__all__ = ["cosines", "log1p_sum_exp", "masked_mean"]

# Stands for -inf in a logsumexp: its exponential is 0 beside any real term, and a row where all is
# masked stays finite, so that its gradient is 0 without a special case.
_MASKED = -1e30

# Above it softplus(x) = x. exp(-40) is below the rounding of float64.
_SOFTPLUS_THRESHOLD = 40.0


def cosines(normalised_BD: Tensor) -> Tensor:
    """S_BB: the cosine of every pair."""
    return normalised_BD @ normalised_BD.T


def log1p_sum_exp(exponents: Tensor, mask: Tensor, dim: int) -> Tensor:
    """log(1 + sum of exp(exponents) where ``mask`` holds), without overflow.

    Where the mask holds nowhere the value is 0 and so is its gradient.
    """
    return softplus(
        torch.logsumexp(exponents.masked_fill(~mask, _MASKED), dim),
        threshold=_SOFTPLUS_THRESHOLD,
    )


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """Mean of ``values`` where ``mask`` holds; 0, with gradient 0, where it holds nowhere."""
    return values.where(mask, 0.0).sum() / mask.sum().clamp(min=1)
