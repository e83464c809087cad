"""How the score changes along one hyperparameter, or two. N configs of a loss."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from analysis.hyperparameters.pooled_configs import (
    PooledConfigs,
    bootstrap_weights,
    weighted_medians,
)
from analysis.hyperparameters.searched_ranges import SearchedRange

_MOST_BINS, _MANY_BINS = 5, 10
_MANY = 500  # configs, from which on there are twice as many bins
_PER_BIN = 6  # configs aimed at
_LEAST_IN_BIN = 3
_MOST_CELLS = 7
_PER_CELL = 5
_REPLICATES = 200

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Configs at neighbouring positions; gains in points above the median config of the search.

    Attributes:
        left: position where the bin begins; of a choice the index minus 0.5.
        right: position where the bin ends; of a choice the index plus 0.5.
        count: number of configs.
        median: median gain.
        low: lower end of the median's 95 % bootstrap interval: over blocks if there are at least
            5, else over configs.
        high: upper end of that interval.
        first: first quartile of the gains.
        third: third quartile of the gains.
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
class ResponseCurve:
    """Gains along one hyperparameter.

    Attributes:
        searched: range or values of the hyperparameter.
        bins: bins from the lower end of the range; those with fewer than 3 configs are left out.
    """

    searched: SearchedRange
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseGrid:
    """Median gains over two hyperparameters; NaN where fewer than 3 configs lie.

    Attributes:
        x: range or values of the hyperparameter along the horizontal axis.
        y: range or values of the hyperparameter along the vertical axis.
        x_edges: positions between the columns of cells, with both ends.
        y_edges: positions between the rows of cells, with both ends.
        medians_YX: median gain of each cell, in points.
        counts_YX: number of configs in each cell.
    """

    x: SearchedRange
    y: SearchedRange
    x_edges: Floats
    y_edges: Floats
    medians_YX: Floats
    counts_YX: NDArray[np.intp]


def response_curves(pooled: PooledConfigs, names: Sequence[str]) -> tuple[ResponseCurve, ...]:
    """The score along each hyperparameter, in bins of equal width on its own scale.

    Args:
        pooled: configs of one loss.
        names: names of the hyperparameters.
    """
    weights_RN = bootstrap_weights(pooled.blocks_N, replicates=_REPLICATES)
    return tuple(_response_curve(pooled, name, weights_RN) for name in names)


def _response_curve(pooled: PooledConfigs, name: str, weights_RN: Floats) -> ResponseCurve:
    searched, positions_N = pooled.ranges[name], pooled.positions[name]
    exists_N = ~np.isnan(positions_N)
    num = int(exists_N.sum())
    edges = _edges(searched, min(_MANY_BINS if num >= _MANY else _MOST_BINS, num // _PER_BIN))
    bins_N = _bins(positions_N, edges)
    found: list[Bin] = []
    for index, (left, right) in enumerate(pairwise(edges.tolist())):
        inside_N = bins_N == index
        gains = pooled.gains_N[inside_N]
        if len(gains) < _LEAST_IN_BIN:
            continue
        medians_R = weighted_medians(gains, weights_RN[:, inside_N])
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
    return ResponseCurve(searched=searched, bins=tuple(found))


def response_grid(pooled: PooledConfigs, x: str, y: str) -> ResponseGrid:
    """The score over two hyperparameters.

    Args:
        pooled: configs of one loss.
        x: name of the hyperparameter along the horizontal axis.
        y: name of the hyperparameter along the vertical axis.
    """
    both_N = ~np.isnan(pooled.positions[x]) & ~np.isnan(pooled.positions[y])
    most = min(_MOST_CELLS, max(2, math.isqrt(int(both_N.sum()) // _PER_CELL)))
    x_edges, y_edges = (_edges(pooled.ranges[name], most) for name in (x, y))
    x_N, y_N = (
        _bins(pooled.positions[x][both_N], x_edges),
        _bins(pooled.positions[y][both_N], y_edges),
    )
    shape = (len(y_edges) - 1, len(x_edges) - 1)
    medians = np.full(shape, np.nan)
    counts = np.zeros(shape, dtype=np.intp)
    gains = pooled.gains_N[both_N]
    for row, column in np.ndindex(shape):
        found = gains[(y_N == row) & (x_N == column)]
        counts[row, column] = len(found)
        if len(found) >= _LEAST_IN_BIN:
            medians[row, column] = np.median(found)
    return ResponseGrid(
        x=pooled.ranges[x],
        y=pooled.ranges[y],
        x_edges=x_edges,
        y_edges=y_edges,
        medians_YX=medians,
        counts_YX=counts,
    )


def _edges(searched: SearchedRange, most: int) -> Floats:
    """Ends of bins: one a value of a choice or of a short list of steps, else equal widths."""
    if searched.is_choice:
        return np.arange(len(searched.values) + 1).astype(np.float64) - 0.5
    steps = searched.num_steps
    if steps <= _MOST_CELLS:
        half = 0.5 / (steps - 1)
        return np.linspace(-half, 1 + half, steps + 1).astype(np.float64)
    return np.linspace(0, 1, max(2, most) + 1).astype(np.float64)


def _bins(positions_N: Floats, edges: Floats) -> NDArray[np.intp]:
    """Index of each position's bin, the last one including its upper end; -1 for NaN."""
    bins_N = np.searchsorted(edges, np.nan_to_num(positions_N), side="right") - 1
    found: NDArray[np.intp] = np.clip(bins_N, 0, len(edges) - 2)
    return np.where(np.isnan(positions_N), -1, found)
