"""Where the best configs of a loss lie, and whether winners accumulate at the end of a range."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.analysis.hyperparameters.search_configs import SearchConfigs
from podium.analysis.hyperparameters.searched_ranges import SearchedRange

_BEST = 0.1
_LEAST_CONFIGS = 5
_SHOWN = (0.1, 0.5, 0.9)  # quantiles of the best
_AT_END = 0.02  # of a range without steps
_LEVEL = 0.05
_FINE = 50  # cells of a range without steps

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BestRange:
    """Where the best configs lie along a range.

    Attributes:
        low: tenth percentile of the best configs.
        median: median of the best configs.
        high: ninetieth percentile of the best configs.
    """

    low: float
    median: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BestRegion:
    """The best tenth of every search, seen along one hyperparameter.

    Numbers are in the unit of the hyperparameter, or positions from 0 to 1 where ``is_relative``.

    Attributes:
        searched: range or values that the searches of the first block drew from.
        is_relative: whether the range differs between blocks.
        best: where the best configs lie; None if none of them has the hyperparameter. Of a choice,
            the most frequent value among them, the share of them that has it, 0 to 1, and the
            share of all configs that has it.
        num_best: number of best configs that have the hyperparameter.
        num_winners: number of searches' best configs that have it; 0 for a choice.
        num_at_low: number of winners within 2 % of the lower bound, or on the outermost step.
        num_at_high: number of winners at the upper bound.
        warns_low: whether at least so many at the lower bound have a probability below 5 %.
        warns_high: whether at least so many at the upper bound have.
    """

    hyperparameter: str
    searched: SearchedRange
    is_relative: bool
    best: BestRange | tuple[str, float, float] | None = None
    num_best: int = 0
    num_winners: int = 0
    num_at_low: int = 0
    num_at_high: int = 0
    warns_low: bool = False
    warns_high: bool = False


def best_regions(searches: Sequence[SearchConfigs]) -> dict[str, tuple[BestRegion, ...]]:
    """Loss -> its best region along each hyperparameter that every search varied.

    Searches with fewer than 5 complete configs are left out, and so are losses without others.
    """
    found = {}
    for loss, members in groupby(searches, key=lambda item: item.loss):
        usable = [item for item in members if item.num_configs >= _LEAST_CONFIGS]
        if usable:
            is_best_N = np.concatenate([_top(item.scores_N) for item in usable])
            winners = _winners(usable)
            found[loss] = tuple(
                _region(usable, name, is_best_N, winners)
                for name, searched in usable[0].ranges.items()
                if not searched.is_constant and all(name in item.ranges for item in usable)
            )
    return found


def _region(
    searches: Sequence[SearchConfigs],
    name: str,
    is_best_N: NDArray[np.bool_],
    winners: NDArray[np.intp],
) -> BestRegion:
    """Along one hyperparameter; N configs of all searches."""
    searched = searches[0].ranges[name]
    positions_N = np.concatenate([item.positions[name] for item in searches])
    exists_N = ~np.isnan(positions_N)
    best = positions_N[is_best_N & exists_N]
    is_relative = any(item.ranges[name] != searched for item in searches)
    region = BestRegion(
        hyperparameter=name, searched=searched, is_relative=is_relative, num_best=len(best)
    )
    if not region.num_best:
        return region
    if searched.is_choice:
        return replace(region, best=_favourite(searched, best, positions_N[exists_N]))
    winners = winners[exists_N[winners]]
    at_low, at_high, chance = _at_ends(searched, positions_N[winners])
    low, median, high = (
        float(end) if is_relative else searched.value_at(float(end))
        for end in np.quantile(best, _SHOWN)
    )
    return replace(
        region,
        best=BestRange(low=low, median=median, high=high),
        num_winners=len(winners),
        num_at_low=at_low,
        num_at_high=at_high,
        warns_low=_is_many(at_low, len(winners), chance),
        warns_high=_is_many(at_high, len(winners), chance),
    )


def _winners(searches: Sequence[SearchConfigs]) -> NDArray[np.intp]:
    """The best config of each search; one that wins several of a block is there once."""
    found: dict[tuple[str, ...], int] = {}
    first = 0
    for item in searches:
        best = int(np.argmax(item.scores_N))
        config = (f"{positions[best]:.9g}" for positions in item.positions.values())
        found.setdefault((item.block, *config), first + best)
        first += item.num_configs
    return np.array(list(found.values()), dtype=np.intp)


def _top(scores_N: Floats) -> NDArray[np.bool_]:
    """Which configs are in the best tenth of a search, at least one; ties are all in."""
    needed = math.ceil(_BEST * len(scores_N))
    best: NDArray[np.bool_] = scores_N >= np.sort(scores_N)[-needed]
    return best


def _favourite(
    searched: SearchedRange, best: Floats, everywhere: Floats
) -> tuple[str, float, float]:
    counts_V = np.bincount(best.astype(np.intp), minlength=len(searched.values))
    favourite = int(counts_V.argmax())
    value = searched.values[favourite]
    return (
        value if isinstance(value, str) else f"{value:g}",
        float(counts_V[favourite] / len(best)),
        float((everywhere == favourite).mean()),
    )


def _at_ends(searched: SearchedRange, winners: Floats) -> tuple[int, int, float]:
    """Winners at both ends, and the chance of one to lie at an end if nothing mattered."""
    if searched.num_steps < _FINE:
        cells, last = searched.cells(winners), searched.num_steps - 1
        return int((cells == 0).sum()), int((cells == last).sum()), 1 / searched.num_steps
    at_low, at_high = winners <= _AT_END, winners >= 1 - _AT_END
    return int(at_low.sum()), int(at_high.sum()), _AT_END


def _is_many(count: int, num: int, chance: float) -> bool:
    """Whether at least this count has a probability below 5 % under a binomial distribution."""
    from scipy.special import bdtrc

    return count > 0 and bool(bdtrc(count - 1, num, chance) < _LEVEL)


_COUNTED = ("num_best", "num_winners", "num_at_low", "num_at_high", "warns_low", "warns_high")
_OF_RANGE = tuple(item.name for item in fields(BestRange))
_OF_CHOICE = ("favourite", "favourite_share", "overall_share")


def region_records(regions: Mapping[str, Sequence[BestRegion]]) -> list[dict[str, Any]]:
    """One record for each loss and hyperparameter: what was searched, and where the best lie.

    ``unit`` is ``place`` where ranges differ between blocks: numbers are then positions, 0 at the
    lower end of the range and 1 at the upper one.
    """
    return [_record(loss, region) for loss, found in regions.items() for region in found]


def _record(loss: str, region: BestRegion) -> dict[str, Any]:
    searched = region.searched
    is_choice, scale = searched.is_choice, "log" if searched.log else "linear"
    return {
        "loss": loss,
        "hyperparameter": region.hyperparameter,
        "tried_low": None if is_choice else searched.low,
        "tried_high": None if is_choice else searched.high,
        "tried_values": list(searched.values) or None,
        "scale": "choice" if is_choice else scale,
        "unit": "place" if region.is_relative else "value",
        **dict.fromkeys((*_OF_RANGE, *_OF_CHOICE)),
        **_record_of_best(region.best),
        **{name: getattr(region, name) for name in _COUNTED},
    }


def _record_of_best(best: BestRange | tuple[str, float, float] | None) -> dict[str, Any]:
    if isinstance(best, BestRange):
        return asdict(best)
    return dict(zip(_OF_CHOICE, best, strict=True)) if best else {}
