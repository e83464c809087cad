"""Means over the cells of a study, with intervals over what was repeated.

A cell is one choice: protocol x block x loss x repeat. An interval is a delete-one jackknife: the
mean is computed again without each repeat in turn, and

    error^2 = (n - 1) / n x sum over j of (mean without j - their average)^2

with Student's t, n - 1 degrees of freedom. Of cells that share nothing this is the usual t
interval of the mean over repeats. Repeats may share more: a choice is scored by the test runs of
other repeats. So leaving out a repeat takes its choices and its test runs away together.

Source: Efron and Tibshirani 1993, chapter 11.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl

from podium.analysis.estimates.confidence_intervals import student_interval, t_reach
from podium.analysis.estimates.distributions import t_tail
from podium.analysis.hypothesis_tests.pairwise_comparisons import holm

_CELL = ("block", "loss", "repeat")


Cells = Mapping[int | None, pl.DataFrame]
"""One row per cell: ``protocol``, ``block``, ``loss``, ``repeat``, and columns of measures.

None holds all cells; a repeat those of all others, measured as if it had never been. Missing
measures are null.
"""


def independent_cells(frame: pl.DataFrame) -> Cells:
    """Cells whose measures do not depend on other repeats."""
    repeats = frame["repeat"].unique().sort().to_list()
    return {None: frame, **{j: frame.filter(pl.col("repeat") != j) for j in repeats}}


def group_means(
    cells: Cells, measures: Sequence[str], *, by: Sequence[str] = ("protocol",)
) -> pl.DataFrame:
    """The mean of each measure over the cells of each group.

    Args:
        cells: cells of all groups; each counts once.
        measures: columns to average; missing values are left out.
        by: columns of the groups.

    Returns:
        ``by``, ``measure``, ``mean``, its interval over repeats ``low`` to ``high`` (95 %) with
        its ``standard_error``, ``num_cells``, ``num_repeats`` and ``num_blocks`` that had it. The
        interval speaks of repeating the searches of these blocks and losses. It is null where the
        measure has no value without one of the repeats, or where `says_how_sure` is false.
        In order of ``by``, then of ``measures``.
    """
    means = {repeat: _means(frame, measures, by) for repeat, frame in cells.items()}
    rows: list[dict[str, object]] = []
    for key, group in cells[None].sort(*by, *_CELL).group_by(by, maintain_order=True):
        for measure in measures:
            left_out = {repeat: of.get(key, {}).get(measure) for repeat, of in means.items()}
            rows.append(
                {
                    **dict(zip(by, key, strict=True)),
                    "measure": measure,
                    **_statistics(group.drop_nulls(measure), measure, left_out),
                }
            )
    schema = {
        **dict.fromkeys((*by, "measure"), pl.String),
        **dict.fromkeys(("mean", "low", "high", "standard_error"), pl.Float64),
        **dict.fromkeys(("num_cells", "num_repeats", "num_blocks"), pl.Int64),
    }
    return pl.DataFrame(rows, schema=schema)


def paired_differences(
    cells: Cells, measures: Sequence[str], *, order: Sequence[str]
) -> pl.DataFrame:
    """The mean difference of every two protocols over the cells that both have.

    Args:
        cells: cells of all protocols, as in ``group_means``.
        measures: columns to compare.
        order: labels of the protocols; of a pair, the earlier one is ``a``.

    Returns:
        ``a``, ``b``, then as ``group_means``, the mean being a - b, and ``p_value`` (two-sided t
        test that it is 0, over repeats) and ``p_holm``, adjusted over the pairs of the measure.
        Null without that interval.
    """
    pairs = {repeat: _pairs(frame, measures, order) for repeat, frame in cells.items()}
    found = group_means(pairs, measures, by=("a", "b"))
    labels = pl.Enum(order)
    ordered = found.sort(
        pl.col("measure").cast(pl.Enum(measures)), *(pl.col(it).cast(labels) for it in "ab")
    )
    p_values: list[float | None] = []
    adjusted: list[float | None] = []
    for measure in measures:
        rows = ordered.filter(pl.col("measure") == measure).to_dicts()
        family = [_p_value(row) for row in rows]
        corrected = iter(holm([p for p in family if p is not None]))
        p_values += family
        adjusted += [None if p is None else next(corrected) for p in family]
    return ordered.with_columns(
        pl.Series("p_value", p_values, dtype=pl.Float64),
        pl.Series("p_holm", adjusted, dtype=pl.Float64),
    )


_Means = Mapping[tuple[object, ...], Mapping[str, float | None]]


def _means(frame: pl.DataFrame, measures: Sequence[str], by: Sequence[str]) -> _Means:
    """The mean of every measure in every group."""
    found = frame.sort(*by, *_CELL).group_by(by, maintain_order=True).agg(pl.col(measures).mean())
    return {tuple(row[name] for name in by): row for row in found.to_dicts()}


def _statistics(
    known: pl.DataFrame, measure: str, left_out: Mapping[int | None, float | None]
) -> dict[str, object]:
    """Of the cells of one group that have the measure."""
    values = known[measure].to_numpy()
    repeats = sorted(set(known["repeat"]))
    found: dict[str, object] = {
        "num_cells": len(values),
        "num_repeats": len(repeats),
        "num_blocks": known["block"].n_unique(),
    }
    if not len(values):
        return found
    mean = float(values.mean())
    error = _error([left_out.get(repeat) for repeat in repeats])
    found["mean"] = mean
    if error is None:
        return found
    interval = student_interval(mean, error, len(repeats), float(np.abs(values).max()))
    is_known = interval.low is not None
    ends = {"low": interval.low, "high": interval.high}
    return found | ends | {"standard_error": error if is_known else None}


def _error(without: Sequence[float | None]) -> float | None:
    """The jackknife's standard error; None with one group or a missing mean."""
    known = [mean for mean in without if mean is not None]
    if len(known) < 2 or len(known) < len(without):
        return None
    return float(np.sqrt((len(known) - 1) * np.var(known)))


def _pairs(frame: pl.DataFrame, measures: Sequence[str], order: Sequence[str]) -> pl.DataFrame:
    """One row per pair of protocols and cell of both: a's measures minus b's."""
    cell = list(_CELL)
    sides = {
        name: frame.filter(pl.col("protocol") == name).select(*cell, *measures) for name in order
    }
    pairs = [
        sides[a]
        .join(sides[b], on=cell, suffix="_b")
        .select(
            pl.lit(a).alias("a"),
            pl.lit(b).alias("b"),
            *cell,
            *(pl.col(measure) - pl.col(f"{measure}_b") for measure in measures),
        )
        for a, b in combinations(order, 2)
    ]
    if pairs:
        return pl.concat(pairs)
    names = [pl.lit("").alias(side) for side in ("a", "b")]
    return frame.clear().select(*names, *cell, *measures)


def _p_value(row: Mapping[str, float | None]) -> float | None:
    mean, high, num = row["mean"], row["high"], row["num_repeats"]
    if mean is None or high is None or num is None:
        return None
    error = (high - mean) / t_reach(num - 1)
    return 2 * t_tail(abs(mean) / error, num - 1)
