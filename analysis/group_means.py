"""Means over the cells of a study, with intervals over what was repeated.

A cell is one choice: protocol x block x loss x repeat. An interval is a delete-one jackknife: the
mean is computed again without each repeat (or block) in turn, and

    error^2 = (n - 1) / n x sum over j of (mean without j - their average)^2

with Student's t, n - 1 degrees of freedom. Of cells that share nothing this is the usual t
interval of the mean over repeats. Repeats may share more: a choice is scored by the test runs of
other repeats. So leaving out a repeat takes its choices and its test runs away together.

Source: Efron and Tibshirani 1993, chapter 11.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from analysis.distributions import t_quantile, t_tail
from analysis.significance import holm

__all__ = ["NO_WIDTH", "Cells", "group_means", "independent_cells", "paired_differences"]

NO_WIDTH = 1e-12
"""Smaller standard errors are rounding: nothing varies."""

_CONFIDENCE = 0.95
_PLACE = ("block", "loss", "repeat")
_STATISTICS = ("mean", "low", "high", "standard_error", "block_low", "block_high")
_COUNTS = ("num_cells", "num_repeats", "num_blocks")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """One row per cell: ``protocol``, ``block``, ``loss``, ``repeat``, and columns of measures.

    ``without[j]`` holds the cells of all other repeats, measured as if repeat j had never been.
    Missing measures are null.
    """

    whole: pl.DataFrame
    without: Mapping[int, pl.DataFrame]


def independent_cells(frame: pl.DataFrame) -> Cells:
    """Cells whose measures do not depend on other repeats."""
    repeats = frame["repeat"].unique().sort().to_list()
    return Cells(whole=frame, without={j: frame.filter(pl.col("repeat") != j) for j in repeats})


def group_means(
    cells: Cells, measures: Sequence[str], *, by: Sequence[str] = ("protocol",)
) -> pl.DataFrame:
    """The mean of each measure over the cells of each group.

    Args:
        cells: each counts once.
        measures: columns to average; missing values are left out.
        by: columns of the groups.

    Returns:
        ``by``, ``measure``, ``mean``, its interval over repeats ``low`` to ``high`` (95 %) with
        its ``standard_error``, that over blocks ``block_low`` to ``block_high``, ``num_cells``,
        ``num_repeats`` and ``num_blocks`` that had it. The interval over repeats speaks of
        repeating the searches of these blocks and losses; that over blocks of other blocks. One is
        null with a single repeat or block, where the measure has no value without one of them, and
        where it is the same without any: that all repeats agree does not say how sure they are.
        In order of ``by``, then of ``measures``.
    """
    rows: list[dict[str, object]] = []
    for key, group in cells.whole.sort(*by, *_PLACE).group_by(by, maintain_order=True):
        is_group = [pl.col(name) == value for name, value in zip(by, key, strict=True)]
        without = {j: frame.filter(is_group) for j, frame in cells.without.items()}
        for measure in measures:
            rows.append(
                {
                    **dict(zip(by, key, strict=True)),
                    "measure": measure,
                    **_statistics(group, without, measure),
                }
            )
    return pl.DataFrame(rows, schema=_schema(by))


def paired_differences(
    cells: Cells, measures: Sequence[str], *, order: Sequence[str]
) -> pl.DataFrame:
    """The mean difference of every two protocols over the cells that both have.

    Args:
        cells: as in ``group_means``.
        measures: columns to compare.
        order: protocols; of a pair, the earlier one is ``a``.

    Returns:
        ``a``, ``b``, then as ``group_means``, the mean being a - b, and ``p_value`` (two-sided t
        test that it is 0, over repeats, or over blocks with a single repeat) and ``p_holm``,
        adjusted over the pairs of the measure. Null without an interval.
    """
    keys = ["a", "b", *_PLACE]
    frames = []
    for measure in measures:
        pairs = Cells(
            whole=_pairs(cells.whole, measure, order),
            without={j: _pairs(frame, measure, order) for j, frame in cells.without.items()},
        )
        found = group_means(pairs, [measure], by=keys[:2])
        place = {protocol: number for number, protocol in enumerate(order)}
        found = found.sort(
            pl.col("a").replace_strict(place, return_dtype=pl.Int64),
            pl.col("b").replace_strict(place, return_dtype=pl.Int64),
        )
        p_values = [_p_value(row) for row in found.to_dicts()]
        adjusted = iter(holm([p for p in p_values if p is not None]))
        frames.append(
            found.with_columns(
                pl.Series("p_value", p_values, dtype=pl.Float64),
                pl.Series(
                    "p_holm",
                    [None if p is None else next(adjusted) for p in p_values],
                    dtype=pl.Float64,
                ),
            )
        )
    return pl.concat(frames) if frames else pl.DataFrame()


def _schema(by: Sequence[str]) -> dict[str, type[pl.DataType]]:
    return {
        **dict.fromkeys((*by, "measure"), pl.String),
        **dict.fromkeys(_STATISTICS, pl.Float64),
        **dict.fromkeys(_COUNTS, pl.Int64),
    }


def _statistics(
    group: pl.DataFrame, without: Mapping[int, pl.DataFrame], measure: str
) -> dict[str, object]:
    known = group.drop_nulls(measure)
    repeats = known["repeat"].unique().sort().to_list()
    blocks = known["block"].unique().sort().to_list()
    found: dict[str, object] = {
        "num_cells": len(known),
        "num_repeats": len(repeats),
        "num_blocks": len(blocks),
    }
    if known.is_empty():
        return found
    mean = _mean(known[measure])
    assert mean is not None
    error = _error([_mean(without[j][measure]) for j in repeats])
    over_blocks = _error([_mean(known.filter(pl.col("block") != b)[measure]) for b in blocks])
    found |= {"mean": mean, "standard_error": error}
    for prefix, this, num in (("", error, len(repeats)), ("block_", over_blocks, len(blocks))):
        if this is not None:
            half = t_quantile((1 + _CONFIDENCE) / 2, num - 1) * this
            found |= {f"{prefix}low": mean - half, f"{prefix}high": mean + half}
    return found


def _mean(values: pl.Series) -> float | None:
    known = values.drop_nulls().to_numpy()
    return float(known.mean()) if len(known) else None


def _error(without: Sequence[float | None]) -> float | None:
    """The jackknife's standard error; None with one group, a missing mean, or no difference."""
    known = [mean for mean in without if mean is not None]
    if len(known) < 2 or len(known) < len(without):
        return None
    error = float(np.sqrt((len(known) - 1) * np.var(known)))
    return error if error > NO_WIDTH else None


def _pairs(frame: pl.DataFrame, measure: str, order: Sequence[str]) -> pl.DataFrame:
    """One row per pair of protocols and cell of both: a's measure minus b's."""
    sides = {
        name: frame.filter(pl.col("protocol") == name).select(*_PLACE, measure) for name in order
    }
    pairs = [
        sides[a]
        .join(sides[b], on=list(_PLACE), suffix="_b")
        .select(
            pl.lit(a).alias("a"),
            pl.lit(b).alias("b"),
            *_PLACE,
            pl.col(measure) - pl.col(f"{measure}_b"),
        )
        for a, b in combinations(order, 2)
    ]
    empty = frame.clear().select(
        pl.lit("").alias("a"), pl.lit("").alias("b"), *_PLACE, pl.col(measure)
    )
    return pl.concat([empty, *pairs])


def _p_value(row: Mapping[str, float | None]) -> float | None:
    for prefix, num in (("", row["num_repeats"]), ("block_", row["num_blocks"])):
        mean, high = row["mean"], row[f"{prefix}high"]
        if mean is None or high is None or num is None:
            continue
        error = (high - mean) / t_quantile((1 + _CONFIDENCE) / 2, num - 1)
        return 2 * t_tail(abs(mean) / error, num - 1)
    return None
