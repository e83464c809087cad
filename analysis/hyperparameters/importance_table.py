"""Importance of the hyperparameters of each loss: means over blocks, intervals, noise."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.estimates.confidence_intervals import CONFIDENCE, t_interval
from podium.analysis.hyperparameters.importance import LEAST_CONFIGS, LEVEL, SearchImportance

_LEAST_BLOCKS = 5

Floats = NDArray[np.float64]


def importance_table(
    found: Sequence[SearchImportance], *, is_adaptive: bool = False
) -> pl.DataFrame:
    """One row a loss and hyperparameter: the mean over blocks, each the mean of its searches.

    The interval is from subsamples of the configs of each search: it is about other configs in
    these blocks. With 5 blocks or more it is about other blocks as well: it extends to Student's t
    interval over blocks where that is wider. It ends at 0 and 1.

    Args:
        found: importances by search, from ``search_importances``.
        is_adaptive: whether configs follow earlier scores. Shuffled scores then say nothing of
            chance: what does nothing is above them in up to 29 of 100 cases. So ``noise``,
            ``p_value`` and ``is_above_noise`` are null.

    Returns:
        ``loss``, ``hyperparameter``, ``importance``, ``low``, ``high``, ``interval`` (``blocks``,
        ``configs`` or null), ``noise`` (95th percentile of the mean for shuffled scores),
        ``p_value`` (one-sided), ``is_above_noise``, ``share`` (of the sum over hyperparameters of
        the loss), ``num_blocks``, ``num_searches``, ``num_configs``, and ``reason`` where there is
        no importance. By loss, then most important first.
    """
    rows = []
    for loss, members in groupby(found, key=lambda item: item.search.loss):
        own = list(members)
        names = list(dict.fromkeys(name for item in own for name in item.search.ranges))
        of_loss = [_row(own, loss, name) for name in names]
        total = sum(row["importance"] or 0.0 for row in of_loss)
        for row in of_loss:
            known = row["importance"] is not None and total > 0
            row["share"] = row["importance"] / total if known else None
        rows += sorted(
            of_loss, key=lambda row: (row["importance"] is None, -(row["importance"] or 0.0))
        )
    return _tested(pl.DataFrame(rows, schema=_SCHEMA), is_adaptive)


def search_importance_table(
    found: Sequence[SearchImportance], *, is_adaptive: bool = False
) -> pl.DataFrame:
    """One row a search and hyperparameter, without intervals.

    Returns:
        ``loss``, ``block``, ``repeat``, ``hyperparameter``, ``importance``, ``noise``,
        ``p_value``, ``is_above_noise``, ``num_configs``, ``num_pruned``, ``num_failed``,
        ``num_outside`` and ``reason``.
    """
    rows = []
    for item in found:
        for name in item.search.ranges:
            row = _row([item], item.search.loss, name)
            row |= {key: getattr(item.search, key) for key in _OF_SEARCH}
            rows.append({key: row[key] for key in _SEARCH_SCHEMA})
    return _tested(pl.DataFrame(rows, schema=_SEARCH_SCHEMA), is_adaptive)


def _tested(rows: pl.DataFrame, is_adaptive: bool) -> pl.DataFrame:
    """The rows without what only configs that do not follow scores allow to say."""
    tests = ("noise", "p_value", "is_above_noise") if is_adaptive else ()
    return rows.with_columns(pl.lit(None, rows.schema[name]).alias(name) for name in tests)


def _row(found: Sequence[SearchImportance], loss: str, name: str) -> dict[str, Any]:
    known = [item for item in found if item.values.get(name) is not None]
    row: dict[str, Any] = {
        **dict.fromkeys(_SCHEMA),
        "loss": loss,
        "hyperparameter": name,
        "num_blocks": len({item.search.block for item in known}),
        "num_searches": len(known),
        "num_configs": sum(item.num_configs for item in known),
    }
    if not known:
        row["reason"] = _reasons(found, name)
        return row
    values_B = _block_means(known, lambda item: np.array([item.values[name]]))[:, 0]
    value = float(values_B.mean())
    noise_R = _block_means(known, lambda item: item.noise[name]).mean(axis=0)
    p_value = float((1 + (noise_R >= value).sum()) / (1 + len(noise_R)))
    row |= {
        "importance": value,
        "noise": float(np.quantile(noise_R, 1 - LEVEL)),
        "p_value": p_value,
        "is_above_noise": p_value <= LEVEL,
    }
    low, high = _interval(known, name, values_B)
    return row | {
        "low": max(0.0, low),
        "high": min(high, max(1.0, value)),  # smooth densities can put the value beyond 1
        "interval": "blocks" if len(values_B) >= _LEAST_BLOCKS else "configs",
    }


def _reasons(found: Sequence[SearchImportance], name: str) -> str:
    """Why no search has an importance, each reason once."""
    lacking = [item for item in found if name in item.reasons]
    short = sorted(item.num_configs for item in lacking if item.num_configs < LEAST_CONFIGS)
    reasons = {item.reasons[name] for item in lacking if item.num_configs >= LEAST_CONFIGS}
    if short:
        low, high = short[0], short[-1]
        has = f"; has {low}" if low == high else f" in a search; its searches have {low} to {high}"
        reasons.add(f"needs {LEAST_CONFIGS} complete configs{has}")
    return "; ".join(sorted(reasons))


def _interval(
    known: Sequence[SearchImportance], name: str, values_B: Floats
) -> tuple[float, float]:
    """Interval of the mean; never narrower than that of subsamples.

    Student's t alone is too narrow with few skewed blocks.
    """
    value = float(values_B.mean())
    deviation_R = _block_means(known, lambda item: item.deviations[name]).mean(axis=0)
    tail = (1 - CONFIDENCE) / 2
    below, above = np.quantile(deviation_R, [tail, 1 - tail])
    low, high = value + float(below), value + float(above)
    if len(values_B) >= _LEAST_BLOCKS:
        over_blocks = t_interval(values_B.tolist())
        assert over_blocks.low is not None
        assert over_blocks.high is not None
        low, high = min(low, over_blocks.low), max(high, over_blocks.high)
    return low, high


def _block_means(
    found: Sequence[SearchImportance], values: Callable[[SearchImportance], Floats]
) -> Floats:
    """Mean over the searches of each block, (blocks, R)."""
    blocks = sorted({item.search.block for item in found})
    return np.stack(
        [
            np.mean([values(item) for item in found if item.search.block == block], axis=0)
            for block in blocks
        ]
    )


_SCHEMA = {
    "loss": pl.String,
    "hyperparameter": pl.String,
    **dict.fromkeys(("importance", "low", "high"), pl.Float64),
    "interval": pl.String,
    **dict.fromkeys(("noise", "p_value"), pl.Float64),
    "is_above_noise": pl.Boolean,
    "share": pl.Float64,
    **dict.fromkeys(("num_blocks", "num_searches", "num_configs"), pl.Int64),
    "reason": pl.String,
}

_OF_SEARCH = ("block", "repeat", "num_pruned", "num_failed", "num_outside")
_SEARCH_SCHEMA = {
    **dict.fromkeys(("loss", "block"), pl.String),
    "repeat": pl.Int64,
    "hyperparameter": pl.String,
    **dict.fromkeys(("importance", "noise", "p_value"), pl.Float64),
    "is_above_noise": pl.Boolean,
    **dict.fromkeys(("num_configs", "num_pruned", "num_failed", "num_outside"), pl.Int64),
    "reason": pl.String,
}
