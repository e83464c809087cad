"""How the score changes along one hyperparameter, or two. N configs of a loss."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from analysis.hyperparameters.pooled_configs import (
    PooledConfigs,
    drawn_weights,
    weighted_quantiles,
)
from analysis.hyperparameters.searched_ranges import SearchedRange

__all__ = ["Bin", "Cells", "Response", "cells_of", "response"]

_MOST_BINS = 5
_PER_BIN = 6  # configs aimed at
_LEAST_IN_BIN = 3
_MOST_CELLS = 7
_PER_CELL = 5
_REPLICATES = 200

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Some configs beside each other; gains in points above the median config of the search.

    Attributes:
        left: place where it begins, and ``right`` where it ends; of a choice index -+ 0.5.
        count: configs in it.
        median: of their gains.
        low: of its 95 % bootstrap interval, to ``high``: over blocks if there are at least 5, else
            over configs.
        first: quartile, to the ``third``.
    """

    left: float
    right: float
    count: int
    median: float
    low: float
    high: float
    first: float
    third: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """Gains bin by bin, from the lower end; bins with fewer than 3 configs are left out."""

    tried: SearchedRange
    bins: tuple[Bin, ...]
    num_sparse: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """Median gains over two hyperparameters; NaN where fewer than 3 configs lie.

    Attributes:
        x_edges: places; `y_edges` alike.
        medians_YX: in points.
        counts_YX: configs.
    """

    x: SearchedRange
    y: SearchedRange
    x_edges: Floats
    y_edges: Floats
    medians_YX: Floats
    counts_YX: NDArray[np.intp]


def response(pooled: PooledConfigs, name: str, *, seed: int = 0) -> Response:
    """The score along one hyperparameter, in bins of equal width on its own scale.

    Args:
        pooled: configs of one loss.
        name: of the hyperparameter.
        seed: of the bootstrap.
    """
    tried, places_N = pooled.tried[name], pooled.places[name]
    exists_N = ~np.isnan(places_N)
    edges = _edges(tried, min(_MOST_BINS, int(exists_N.sum()) // _PER_BIN))
    bins_N = _bins(places_N, edges)
    weights_RN = drawn_weights(pooled.blocks_N, replicates=_REPLICATES, seed=seed)
    found: list[Bin] = []
    for index, (left, right) in enumerate(pairwise(edges.tolist())):
        inside_N = bins_N == index
        gains = pooled.gains_N[inside_N]
        if len(gains) < _LEAST_IN_BIN:
            continue
        medians_R = weighted_quantiles(gains, weights_RN[:, inside_N], 0.5)
        low, high = np.nanquantile(medians_R, [0.025, 0.975])
        first, median, third = np.quantile(gains, [0.25, 0.5, 0.75])
        found.append(
            Bin(
                left=left,
                right=right,
                count=len(gains),
                median=float(median),
                low=float(low),
                high=float(high),
                first=float(first),
                third=float(third),
            )
        )
    return Response(tried=tried, bins=tuple(found), num_sparse=len(edges) - 1 - len(found))


def cells_of(pooled: PooledConfigs, x: str, y: str) -> Cells:
    """The score over two hyperparameters.

    Args:
        pooled: configs of one loss.
        x: name of the one.
        y: name of the other.
    """
    both_N = ~np.isnan(pooled.places[x]) & ~np.isnan(pooled.places[y])
    most = min(_MOST_CELLS, max(2, math.isqrt(int(both_N.sum()) // _PER_CELL)))
    x_edges, y_edges = (_edges(pooled.tried[name], most) for name in (x, y))
    x_N, y_N = _bins(pooled.places[x][both_N], x_edges), _bins(pooled.places[y][both_N], y_edges)
    shape = (len(y_edges) - 1, len(x_edges) - 1)
    medians = np.full(shape, np.nan)
    counts = np.zeros(shape, dtype=np.intp)
    gains = pooled.gains_N[both_N]
    for row, column in np.ndindex(shape):
        found = gains[(y_N == row) & (x_N == column)]
        counts[row, column] = len(found)
        if len(found) >= _LEAST_IN_BIN:
            medians[row, column] = np.median(found)
    return Cells(
        x=pooled.tried[x],
        y=pooled.tried[y],
        x_edges=x_edges,
        y_edges=y_edges,
        medians_YX=medians,
        counts_YX=counts,
    )


def _edges(tried: SearchedRange, most: int) -> Floats:
    """Ends of bins: one a value of a choice or of a short list of steps, else equal widths."""
    if tried.is_choice:
        return np.arange(len(tried.values) + 1).astype(np.float64) - 0.5
    steps = tried.num_steps
    if steps <= _MOST_CELLS:
        half = 0.5 / (steps - 1)
        return np.linspace(-half, 1 + half, steps + 1).astype(np.float64)
    return np.linspace(0, 1, max(2, most) + 1).astype(np.float64)


def _bins(places_N: Floats, edges: Floats) -> NDArray[np.intp]:
    """Index of the bin; the last one holds its upper end too. NaN is in none."""
    bins_N = np.searchsorted(edges, np.nan_to_num(places_N), side="right") - 1
    found: NDArray[np.intp] = np.clip(bins_N, 0, len(edges) - 2)
    return np.where(np.isnan(places_N), -1, found)
