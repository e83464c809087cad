"""Configs of one loss as dots: which of thousands are shown, and what they are, as values."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.figures.searched_axis import along, axis_values, short_gains
from analysis.hyperparameters.pooled_configs import PooledConfigs


def shown_configs(pooled: PooledConfigs, most: int) -> NDArray[np.intp]:
    """Indices of at most so many configs, evenly by rank, and of the best of every search.

    Args:
        pooled: configs of one loss.
        most: how many; those of the best come on top.
    """
    by_rank = np.argsort(-pooled.gains_N, kind="stable")
    if len(by_rank) > most:
        by_rank = by_rank[np.linspace(0, len(by_rank) - 1, most).round().astype(np.intp)]
    return np.union1d(by_rank, pooled.winners)


def config_values(
    pooled: PooledConfigs, names: Sequence[str], shown: NDArray[np.intp]
) -> dict[str, Any]:
    """Configs as columns, with the axes along which they lie.

    Args:
        pooled: configs of one loss.
        names: hyperparameters, an axis and a column each.
        shown: indices of the configs.
    """
    winners = set(pooled.winners.tolist())
    relative = {name: name in pooled.relative for name in names}
    return {
        "loss": pooled.loss,
        "axes": [axis_values(pooled.ranges[name], is_relative=relative[name]) for name in names],
        "columns": [
            along(
                pooled.ranges[name],
                pooled.positions[name][shown],
                is_relative=relative[name],
            )
            for name in names
        ],
        "gains": short_gains(pooled.gains_N[shown]),
        "blocks": list(pooled.blocks),
        "block": pooled.blocks_N[shown].tolist() if pooled.num_blocks > 1 else [],
        "best": [i for i, config in enumerate(shown.tolist()) if config in winners],
        "published": _published(pooled, names),
    }


def _published(pooled: PooledConfigs, names: Sequence[str]) -> dict[str, Any] | None:
    default = pooled.default
    if default is None:
        return None
    return {
        "values": [_published_value(pooled, name, default.positions[name]) for name in names],
        "gain": short_gains([default.gain])[0],
        "searches": default.num_searches,
    }


def _published_value(pooled: PooledConfigs, name: str, position: float) -> float | None:
    searched = pooled.ranges[name]
    if searched.is_choice and position < 0:  # none of the values of the list
        return None
    return along(searched, np.array([position]), is_relative=name in pooled.relative)[0]
