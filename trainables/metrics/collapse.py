"""Embeddings that are all the same up to rounding: no ranking of them means anything.

N = rows, R = a sample of the rows, D = embedding dimension.
"""

import math

import torch
from torch import Tensor

from podium.trainables.geometry import lifted
from podium.trainables.metrics._cosines import check_finite, full_precision, unit_float64
from podium.trainables.tasks import Geometry

# Rows compared with one another; evenly spaced, so no random numbers are drawn.
_SAMPLE_ROWS = 512
_FEW_ROWS = 16

# A network that computes in float32 gives two images of one content embeddings whose cosine is
# off by a few roundings; a spread of this many is noise.
_NOISE_ROUNDINGS = 8


def similarity_spread(embeddings_ND: Tensor) -> float:
    """Standard deviation of the cosines between different rows, 0 for fewer than two rows.

    At most 512 evenly spaced rows are compared, in float64.

    Raises:
        ValueError: an embedding is not finite.
    """
    check_finite(embeddings_ND)
    num_rows = len(embeddings_ND)
    step = max(1, -(-num_rows // _SAMPLE_ROWS))
    with full_precision():
        sample_RD = unit_float64(embeddings_ND[::step])
        S_RR = sample_RD @ sample_RD.T
        is_upper_RR = torch.ones_like(S_RR, dtype=torch.bool).triu(1)
        cosines = S_RR[is_upper_RR]
        return cosines.std(correction=0).item() if len(cosines) else 0.0


def is_collapsed(embeddings_ND: Tensor, geometry: Geometry = "cosine") -> bool:
    """Whether cosines differ by no more than the rounding of the float32 they come from.

    False for fewer than three rows, which have at most one cosine. Where lengths count, cosines
    are those of lifted rows: these have one direction where embeddings coincide.

    Raises:
        ValueError: an embedding is not finite.
    """
    if geometry != "cosine":
        check_finite(embeddings_ND)
        embeddings_ND = lifted(embeddings_ND, geometry)
    noise = _NOISE_ROUNDINGS * torch.finfo(torch.float32).eps
    if len(embeddings_ND) < 3 or _is_surely_spread(embeddings_ND, noise):
        return False
    return similarity_spread(embeddings_ND) <= noise


def _is_surely_spread(embeddings_ND: Tensor, noise: float) -> bool:
    """Whether a few rows alone show that the spread exceeds ``noise``.

    Two of M cosines that differ by d make their standard deviation at least d / sqrt(2 M).
    """
    num_cosines = _SAMPLE_ROWS * (_SAMPLE_ROWS - 1) // 2
    step = max(1, -(-len(embeddings_ND) // _SAMPLE_ROWS))
    few_RD = unit_float64(embeddings_ND[::step][:_FEW_ROWS])
    cosines_R = few_RD[1:] @ few_RD[0]
    return bool(cosines_R.amax() - cosines_R.amin() > 2.0 * noise * math.sqrt(2 * num_cosines))
