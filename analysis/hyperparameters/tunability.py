"""How easily a loss is tuned: the share of configs that come close to the best of their search."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from analysis.estimates.confidence_intervals import Interval, t_interval
from analysis.hyperparameters.search_configs import SearchConfigs

_PERCENT = 100
_POINTS = 41  # of a curve
_SHOWN = 0.9  # of the complete configs of the loss whose curve rises last
_LEAST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Tunability:
    """One loss: mean over blocks, each the mean of its searches.

    Attributes:
        loss: name of the loss.
        distances: distances below the best config of the search, in points, ascending from 0.
        shares: share of the configs within each distance, 0 to 1; pruned and failed ones never
            are.
        within: shares within the requested distances, with Student's t interval over blocks.
        num_blocks: number of blocks.
        num_trials: number of trials of all searches, including pruned and failed ones.
        num_pruned: number of pruned trials.
        num_failed: number of failed trials.
    """

    loss: str
    distances: NDArray[np.float64]
    shares: NDArray[np.float64]
    within: tuple[Interval, ...]
    num_blocks: int
    num_trials: int
    num_pruned: int
    num_failed: int


def tunability_of(
    searches: Sequence[SearchConfigs], within: Sequence[float] = (0.5, 1.0, 2.0, 5.0)
) -> tuple[Tunability, ...]:
    """The tunability of each loss with a search of 5 complete configs or more.

    Configs that a search did not draw from its space, such as the published default, are not
    counted. The share is that of this sampler: an adaptive one crowds its configs near the best.

    Args:
        searches: configs of every search, from ``search_configs``.
        within: requested distances below the best config, in points.
    """
    usable = [item for item in searches if item.num_configs >= _LEAST]
    if not usable:
        return ()
    far = max(float(np.quantile(_below_best(item), _SHOWN)) for item in usable)
    distances = np.linspace(0, far, _POINTS)
    return tuple(
        _tunability(loss, list(members), distances, within)
        for loss, members in groupby(usable, key=lambda item: item.loss)
    )


def _tunability(
    loss: str,
    searches: Sequence[SearchConfigs],
    distances: NDArray[np.float64],
    within: Sequence[float],
) -> Tunability:
    blocks = sorted({item.block for item in searches})
    at = np.concatenate([distances, within])
    shares_BD = np.stack(
        [
            np.mean([_shares(item, at) for item in searches if item.block == block], axis=0)
            for block in blocks
        ]
    )
    return Tunability(
        loss=loss,
        distances=distances,
        shares=shares_BD[:, : len(distances)].mean(axis=0),
        within=tuple(t_interval(column.tolist()) for column in shares_BD[:, len(distances) :].T),
        num_blocks=len(blocks),
        num_trials=sum(item.num_trials - item.num_outside for item in searches),
        num_pruned=sum(item.num_pruned for item in searches),
        num_failed=sum(item.num_failed for item in searches),
    )


def _below_best(search: SearchConfigs) -> NDArray[np.float64]:
    below: NDArray[np.float64] = _PERCENT * (search.scores_N.max() - search.scores_N)
    return below


def _shares(search: SearchConfigs, at: NDArray[np.float64]) -> NDArray[np.float64]:
    below = np.sort(_below_best(search).round(9))
    shares: NDArray[np.float64] = np.searchsorted(below, at, side="right") / (
        search.num_trials - search.num_outside
    )
    return shares
