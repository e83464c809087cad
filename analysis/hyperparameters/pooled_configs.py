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
_LEAST_BLOCKS = 5
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
        blocks_N: number of each config's block.
        is_best_N: whether a config is in the best tenth of its search; at least one is.
        winners: index of each search's best config; one that wins several searches of a block is
            there once.
    """

    ranges: Mapping[str, SearchedRange]
    relative: tuple[str, ...]
    positions: Mapping[str, Floats]
    blocks_N: NDArray[np.intp]
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
    blocks = sorted({item.block for item in searches})
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
        blocks_N=np.concatenate(
            [np.full(item.num_configs, blocks.index(item.block)) for item in searches]
        ),
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


def bootstrap_weights(blocks_N: NDArray[np.intp], *, replicates: int) -> Floats:
    """How often each config is in a bootstrap replicate, (R, N).

    Blocks are drawn if there are at least 5, each with all its configs; else configs are.

    Args:
        blocks_N: index of the block of each config.
        replicates: number R of replicates.
    """
    generator = np.random.default_rng(0)
    units, unit_N = np.unique(blocks_N, return_inverse=True)
    if len(units) < _LEAST_BLOCKS:
        units, unit_N = np.arange(len(blocks_N)), np.arange(len(blocks_N))
    num = len(units)
    drawn_RU = generator.multinomial(num, np.full(num, 1 / num), size=replicates)
    weights_RN: Floats = drawn_RU[:, unit_N].astype(np.float64)
    return weights_RN


def weighted_medians(values_N: Floats, weights_RN: Floats) -> Floats:
    """Smallest value at which the cumulative weight reaches one half, (R,).

    NaN for a replicate without weight.
    """
    order_N = values_N.argsort(kind="stable")
    reached_RN = weights_RN[:, order_N].cumsum(axis=1)
    needed_R1 = 0.5 * reached_RN[:, -1:]
    first_R = (reached_RN >= np.maximum(needed_R1, 1e-9)).argmax(axis=1)
    return np.where(reached_RN[:, -1] > 0, values_N[order_N][first_R], np.nan)
