"""Where the best configs of a loss lie, and whether winners accumulate at the end of a range."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.hyperparameters.pooled_configs import (
    PooledConfigs,
    bootstrap_weights,
    weighted_medians,
)
from analysis.hyperparameters.searched_ranges import SearchedRange

_REPLICATES = 300
_ENDS = (0.1, 0.9)
_AT_END = 0.02  # of a range without steps
_LEVEL = 0.05
_FINE = 50  # cells of a range without steps

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BestRegion:
    """The best tenth of every search, seen along one hyperparameter.

    Numbers are in the unit of the hyperparameter, or positions from 0 to 1 where ``is_relative``.
    A choice has ``favourite`` and its shares instead of numbers. All is None or 0 where no best
    config has the hyperparameter.

    Attributes:
        searched: range or values that the searches of the first block drew from.
        is_relative: whether the range differs between blocks.
        low: tenth percentile of the best configs.
        median: median of the best configs.
        high: ninetieth percentile of the best configs.
        median_low: lower end of the 95 % bootstrap interval of the median: over blocks if there
            are at least 5, else over these configs.
        median_high: upper end of that interval.
        favourite: most frequent value among the best configs.
        favourite_share: share of the best configs that have it, 0 to 1.
        overall_share: share of all configs that have it, 0 to 1.
        num_best: number of best configs that have the hyperparameter.
        num_winners: number of searches' best configs that have the hyperparameter.
        num_at_low: number of these within 2 % of the lower bound, or on the lowest step.
        num_at_high: number of these within 2 % of the upper bound, or on the highest step.
        warns_low: whether at least ``num_at_low`` has a probability below 5 % by chance.
        warns_high: whether at least ``num_at_high`` has a probability below 5 % by chance.
    """

    hyperparameter: str
    searched: SearchedRange
    is_relative: bool
    low: float | None = None
    median: float | None = None
    high: float | None = None
    median_low: float | None = None
    median_high: float | None = None
    favourite: str | None = None
    favourite_share: float | None = None
    overall_share: float | None = None
    num_best: int = 0
    num_winners: int = 0
    num_at_low: int = 0
    num_at_high: int = 0
    warns_low: bool = False
    warns_high: bool = False


def best_regions(pooled: PooledConfigs) -> tuple[BestRegion, ...]:
    """The best region of one loss along each hyperparameter, in the order of the space."""
    return tuple(_region(pooled, name) for name in pooled.ranges)


def _region(pooled: PooledConfigs, name: str) -> BestRegion:
    searched, positions_N = pooled.ranges[name], pooled.positions[name]
    exists_N = ~np.isnan(positions_N)
    best_N = pooled.is_best_N & exists_N
    relative = name in pooled.relative
    if not best_N.any():
        return BestRegion(hyperparameter=name, searched=searched, is_relative=relative)
    if searched.is_choice:
        return _choice_region(name, searched, relative, positions_N[best_N], positions_N[exists_N])
    weights_RN = bootstrap_weights(pooled.blocks_N[best_N], replicates=_REPLICATES)
    medians_R = weighted_medians(positions_N[best_N], weights_RN)
    ends = [
        *np.quantile(positions_N[best_N], [_ENDS[0], 0.5, _ENDS[1]]),
        *np.quantile(medians_R, [0.025, 0.975]),
    ]
    low, median, high, median_low, median_high = (
        float(end) if relative else searched.value_at(float(end)) for end in ends
    )
    winners = pooled.winners[exists_N[pooled.winners]]
    at_low, at_high, chance = _at_ends(searched, positions_N[winners])
    return BestRegion(
        hyperparameter=name,
        searched=searched,
        is_relative=relative,
        low=low,
        median=median,
        high=high,
        median_low=median_low,
        median_high=median_high,
        num_best=int(best_N.sum()),
        num_winners=len(winners),
        num_at_low=at_low,
        num_at_high=at_high,
        warns_low=searched.is_recorded and _is_many(at_low, len(winners), chance),
        warns_high=searched.is_recorded and _is_many(at_high, len(winners), chance),
    )


def _choice_region(
    name: str, searched: SearchedRange, relative: bool, best: Floats, everywhere: Floats
) -> BestRegion:
    counts_V = np.bincount(best.astype(np.intp), minlength=len(searched.values))
    favourite = int(counts_V.argmax())
    value = searched.values[favourite]
    return BestRegion(
        hyperparameter=name,
        searched=searched,
        is_relative=relative,
        favourite=value if isinstance(value, str) else f"{value:g}",
        favourite_share=float(counts_V[favourite] / len(best)),
        overall_share=float((everywhere == favourite).mean()),
        num_best=len(best),
    )


def _at_ends(searched: SearchedRange, winners: Floats) -> tuple[int, int, float]:
    """How many winners lie at either end, and the chance of one to do so if nothing mattered."""
    if searched.num_steps < _FINE:
        cells = searched.cells(winners)
        last = searched.num_steps - 1
        return int((cells == 0).sum()), int((cells == last).sum()), 1 / searched.num_steps
    return int((winners <= _AT_END).sum()), int((winners >= 1 - _AT_END).sum()), _AT_END


def _is_many(count: int, num: int, chance: float) -> bool:
    """Whether at least this count has a probability below 5 % under a binomial distribution."""
    tail = sum(
        math.comb(num, found) * chance**found * (1 - chance) ** (num - found)
        for found in range(count, num + 1)
    )
    return count > 0 and tail < _LEVEL


_FIELDS = (
    *("low", "median", "high", "median_low", "median_high"),
    *("favourite", "favourite_share", "overall_share"),
    *("num_best", "num_winners", "num_at_low", "num_at_high", "warns_low", "warns_high"),
)


def region_records(regions: Mapping[str, Sequence[BestRegion]]) -> list[dict[str, Any]]:
    """One record for each loss and hyperparameter: what was searched, and where the best lie.

    ``unit`` is ``place`` where ranges differ between blocks: numbers are then positions, 0 at the
    lower end of the range and 1 at the upper one.
    """
    return [
        {
            "loss": loss,
            "hyperparameter": region.hyperparameter,
            "tried_low": None if region.searched.is_choice else region.searched.low,
            "tried_high": None if region.searched.is_choice else region.searched.high,
            "tried_values": list(region.searched.values) or None,
            "scale": _scale(region),
            "unit": "place" if region.is_relative else "value",
            **{name: getattr(region, name) for name in _FIELDS},
        }
        for loss, found in regions.items()
        for region in found
    ]


def _scale(region: BestRegion) -> str | None:
    if region.searched.is_choice:
        return "choice"
    if not region.searched.is_recorded:
        return None
    return "log" if region.searched.log else "linear"
