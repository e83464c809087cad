"""Distances beside the cosine that losses train and images are retrieved by.

euclidean   d(x, y) = |x - y|, of embeddings of any length
poincare    d(x, y) = 2 / sqrt(c) asinh(sqrt(c) |p - q| / sqrt((1 - c |p|^2) (1 - c |q|^2)))

Here p = tanh(sqrt(c) |x|) x / (sqrt(c) |x|) is the point of the Poincare ball that the exponential
map at 0 makes of an embedding x, cut to the length 2.3 before; so is q of y. c = 0.1. Another
curvature is another temperature and another length: only their ratios to sqrt(c) count.

Source: Ermolov et al. 2022, Hyperbolic Vision Transformers, section 3, and the authors' code.

Q, N = rows, D = embedding dimension, E = dimension of lifted rows.
"""

import math

import torch
from torch import Tensor

from podium.trainables.tasks import Geometry

_ROOT_CURVATURE = math.sqrt(0.1)
_LONGEST = 2.3

# The map of a shorter embedding is the embedding, to the last digit.
_SHORTEST = 1e-12


def ball_points(embeddings: Tensor) -> tuple[Tensor, Tensor]:
    """Points sqrt(c) p in the ball of radius 1, (N, D), and 1 - c |p|^2 of each, (N, 1)."""
    lengths = torch.linalg.vector_norm(embeddings, dim=1, keepdim=True).clamp(min=_SHORTEST)
    angles = _ROOT_CURVATURE * lengths.clamp(max=_LONGEST)
    return embeddings * (angles.tanh() / lengths), angles.cosh().pow(-2)


def in_ball(distances: Tensor, x_rests: Tensor, y_rests: Tensor) -> Tensor:
    """Poincare distances of `ball_points` from their Euclidean ones and the rests of both."""
    return 2.0 / _ROOT_CURVATURE * (distances / (x_rests * y_rests).sqrt()).asinh()


def all_distances(x_QD: Tensor, y_ND: Tensor, geometry: Geometry) -> Tensor:
    """Distance of every row to every row, (Q, N), by differences: small ones keep their digits.

    Args:
        x_QD: embeddings of any length.
        y_ND: the others.
        geometry: any but the cosine.
    """
    if geometry == "euclidean":
        return _by_differences(x_QD, y_ND)
    (p_QD, p_rests_Q1), (q_ND, q_rests_N1) = ball_points(x_QD), ball_points(y_ND)
    return in_ball(_by_differences(p_QD, q_ND), p_rests_Q1, q_rests_N1.T)


def _by_differences(x_QD: Tensor, y_ND: Tensor) -> Tensor:
    # A product would lose the digits of small distances of long vectors.
    found: Tensor = torch.cdist(x_QD, y_ND, compute_mode="donot_use_mm_for_euclid_dist")
    return found


def lifted(embeddings_ND: Tensor, geometry: Geometry) -> Tensor:
    """Rows whose products order pairs as distances do: float64, of length 1 at most, (N, E).

    The product of x and y is that of all numbers but the last, minus that of the last ones. It is
    -|x - y|^2 / 2 of Euclidean distances and -cosh(sqrt(c) d) of Poincare ones, both over a number
    that all pairs share.

    Args:
        embeddings_ND: embeddings of any length, finite.
        geometry: any but the cosine.
    """
    rows_ND = embeddings_ND.double()
    lengths_N1 = torch.linalg.vector_norm(rows_ND, dim=1, keepdim=True).clamp(min=_SHORTEST)
    if geometry == "euclidean":
        rows_ND = rows_ND / lengths_N1.amax()
        squares_N1 = rows_ND.square().sum(1, keepdim=True)
        rows_NE = torch.cat([rows_ND, (1.0 - squares_N1) / 2.0, (1.0 + squares_N1) / 2.0], dim=1)
    else:
        angles_N1 = 2.0 * _ROOT_CURVATURE * lengths_N1.clamp(max=_LONGEST)
        rows_NE = torch.cat([rows_ND * (angles_N1.sinh() / lengths_N1), angles_N1.cosh()], dim=1)
    longest: Tensor = torch.linalg.vector_norm(rows_NE, dim=1).amax()
    return rows_NE / longest
