"""The configs of all searches of a loss by their positions. N configs of all searches."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from podium.analysis.hyperparameters.search_configs import SearchConfigs
from podium.analysis.hyperparameters.searched_ranges import SearchedRange

_BEST = 0.1
_LEAST_CONFIGS = 5

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledConfigs:
    """All configs of one loss.

    Attributes:
        ranges: hyperparameter -> its range in the first search; only those that every search
            varied.
        relative: hyperparameters whose range differs between searches, so that only positions can
            be compared.
        positions: hyperparameter -> position of each config in the range of its search (N,).
        is_best_N: whether a config is in the best tenth of its search; at least one is.
        winners: index of each search's best config; one that wins several searches of a block is
            there once.
    """

    ranges: Mapping[str, SearchedRange]
    relative: tuple[str, ...]
    positions: Mapping[str, Floats]
    is_best_N: NDArray[np.bool_]
    winners: NDArray[np.intp]


def pooled_configs(searches: Sequence[SearchConfigs]) -> dict[str, PooledConfigs]:
    """Loss -> its configs; losses without a search of 5 complete configs are left out.

    Searches with fewer than 5 complete configs are not pooled.

    Args:
        searches: configs of every search, from ``search_configs``.
    """
    found = {}
    for loss, members in groupby(searches, key=lambda item: item.loss):
        usable = [item for item in members if item.num_configs >= _LEAST_CONFIGS]
        if usable:
            found[loss] = _pooled(usable)
    return found


def _pooled(searches: Sequence[SearchConfigs]) -> PooledConfigs:
    names = [name for name in searches[0].ranges if all(name in item.ranges for item in searches)]
    names = [name for name in names if not searches[0].ranges[name].is_constant]
    return PooledConfigs(
        ranges={name: searches[0].ranges[name] for name in names},
        relative=tuple(
            name
            for name in names
            if any(item.ranges[name] != searches[0].ranges[name] for item in searches)
        ),
        positions={
            name: np.concatenate([item.positions[name] for item in searches]) for name in names
        },
        is_best_N=np.concatenate([_top(item.scores_N, _BEST) for item in searches]),
        winners=_winners(searches),
    )


def _winners(searches: Sequence[SearchConfigs]) -> NDArray[np.intp]:
    found: dict[tuple[str, ...], int] = {}
    first = 0
    for item in searches:
        best = item.best
        assert best is not None
        config = (f"{positions[best]:.9g}" for positions in item.positions.values())
        found.setdefault((item.block, *config), first + best)
        first += item.num_configs
    return np.array(list(found.values()), dtype=np.intp)


def _top(scores_N: Floats, share: float) -> NDArray[np.bool_]:
    """The best share; ties are all in."""
    needed = math.ceil(share * len(scores_N))
    best: NDArray[np.bool_] = scores_N >= np.sort(scores_N)[-needed]
    return best
