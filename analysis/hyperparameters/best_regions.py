"""Where the best configs of a loss lie, and whether winners press against the end of a range."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.hyperparameters.pooled_configs import (
    PooledConfigs,
    drawn_weights,
    weighted_quantiles,
)
from analysis.hyperparameters.searched_ranges import SearchedRange

__all__ = ["BestRegion", "best_regions", "region_records"]

_REPLICATES = 300
_ENDS = (0.1, 0.9)
_AT_END = 0.02  # of a range without steps
_LEVEL = 0.05
_FINE = 50  # cells of a range without steps

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BestRegion:
    """The best tenth of every search, seen along one hyperparameter.

    Numbers are in its own units, or places from 0 to 1 where ``is_relative``: the range is not the
    same in all blocks. Of a choice there is ``favourite`` in their place.

    Attributes:
        low: tenth percentile.
        median: with its 95 % bootstrap interval ``median_low`` to ``median_high``: over blocks if
            there are at least 5, else over these configs.
        high: ninetieth percentile.
        favourite: the most frequent value, with its share among the best and among all.
        num_best: configs.
        num_winners: best configs of searches in which the hyperparameter exists.
        num_at_low: of them, those within 2 % of the lower bound, or on the lowest step.
        num_at_high: the same of the upper bound.
        warns_low: whether so many would be there by chance in fewer than 5 of 100 studies.
        warns_high: the same of the upper bound.
    """

    hyperparameter: str
    tried: SearchedRange
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


def best_regions(pooled: PooledConfigs, *, seed: int = 0) -> tuple[BestRegion, ...]:
    """One for each hyperparameter, in the order of the space.

    Args:
        pooled: configs of one loss.
        seed: of the bootstrap.
    """
    return tuple(_region(pooled, name, seed) for name in pooled.tried)


def _region(pooled: PooledConfigs, name: str, seed: int) -> BestRegion:
    tried, places_N = pooled.tried[name], pooled.places[name]
    exists_N = ~np.isnan(places_N)
    best_N = pooled.is_best_N & exists_N
    relative = name in pooled.differs
    if not best_N.any():
        return BestRegion(hyperparameter=name, tried=tried, is_relative=relative)
    if tried.is_choice:
        return _choice_region(name, tried, relative, places_N[best_N], places_N[exists_N])
    weights_RN = drawn_weights(pooled.blocks_N[best_N], replicates=_REPLICATES, seed=seed)
    medians_R = weighted_quantiles(places_N[best_N], weights_RN, 0.5)
    ends = [
        *np.quantile(places_N[best_N], [_ENDS[0], 0.5, _ENDS[1]]),
        *np.quantile(medians_R, [0.025, 0.975]),
    ]
    low, median, high, median_low, median_high = (
        float(end) if relative else tried.value_at(float(end)) for end in ends
    )
    winners = pooled.winners[exists_N[pooled.winners]]
    at_low, at_high, chance = _at_ends(tried, places_N[winners])
    return BestRegion(
        hyperparameter=name,
        tried=tried,
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
        warns_low=tried.is_recorded and _is_many(at_low, len(winners), chance),
        warns_high=tried.is_recorded and _is_many(at_high, len(winners), chance),
    )


def _choice_region(
    name: str, tried: SearchedRange, relative: bool, best: Floats, everywhere: Floats
) -> BestRegion:
    counts_V = np.bincount(best.astype(np.intp), minlength=len(tried.values))
    favourite = int(counts_V.argmax())
    value = tried.values[favourite]
    return BestRegion(
        hyperparameter=name,
        tried=tried,
        is_relative=relative,
        favourite=value if isinstance(value, str) else f"{value:g}",
        favourite_share=float(counts_V[favourite] / len(best)),
        overall_share=float((everywhere == favourite).mean()),
        num_best=len(best),
    )


def _at_ends(tried: SearchedRange, winners: Floats) -> tuple[int, int, float]:
    """How many winners lie at either end, and the chance of one to do so if nothing mattered."""
    if tried.num_steps < _FINE:
        cells = tried.cells(winners)
        last = tried.num_steps - 1
        return int((cells == 0).sum()), int((cells == last).sum()), 1 / tried.num_steps
    return int((winners <= _AT_END).sum()), int((winners >= 1 - _AT_END).sum()), _AT_END


def _is_many(count: int, num: int, chance: float) -> bool:
    """Whether at least so many have a chance below 5 % under the binomial distribution."""
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
    """One record for each loss and hyperparameter: what was tried, and where the best lie.

    ``unit`` is ``place`` where ranges differ between blocks: 0 is the lower end, 1 the upper one.
    """
    return [
        {
            "loss": loss,
            "hyperparameter": region.hyperparameter,
            "tried_low": None if region.tried.is_choice else region.tried.low,
            "tried_high": None if region.tried.is_choice else region.tried.high,
            "tried_values": list(region.tried.values) or None,
            "scale": _scale(region),
            "unit": "place" if region.is_relative else "value",
            **{name: getattr(region, name) for name in _FIELDS},
        }
        for loss, found in regions.items()
        for region in found
    ]


def _scale(region: BestRegion) -> str | None:
    if region.tried.is_choice:
        return "choice"
    if not region.tried.is_recorded:
        return None
    return "log" if region.tried.log else "linear"
