"""Optimism (selection bias) of the validation score of a pick, for each loss of any study.

Means over the searches of a loss under one protocol, of the two kinds in
`analysis.selection.optimism`: of choosing by these validation classes, and by this run.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from analysis.estimates.confidence_intervals import t_interval
from analysis.hypothesis_tests.group_means import NO_WIDTH
from analysis.selection.optimism import (
    class_optimism,
    fresh_run_optimism,
    of_several_classes,
)

_PARTS = ("optimism", "epoch", "config")
_SCHEMA = {
    **dict.fromkeys(("loss", "part"), pl.String),
    **dict.fromkeys(("mean", "low", "high"), pl.Float64),
    "num_searches": pl.Int64,
    "over": pl.String,
}


def optimism_over_classes_by_loss(
    class_hits: Iterable[pl.DataFrame], *, has_one_split: bool
) -> pl.DataFrame:
    """Optimism of choosing by half of the validation classes, and its parts.

    Args:
        class_hits: tables from ``checked_class_hits``, of one protocol, each of whole searches and
            in the order of these; networks validated on a single class, which has no halves, are
            left out.
        has_one_split: whether all repeats have the same validation classes, so that they are one
            draw of classes.

    Returns:
        ``loss``, ``part`` (``optimism`` = ``epoch`` + ``config``), ``mean``, ``low`` and ``high``
        (95 %; ``over`` says what: Student's t over ``blocks``, or over ``repeats`` with splits of
        their own where these are more; ``classes``, the bootstrap of a single search; null, and
        empty, without any of them), ``num_searches``.
    """
    found = class_optimism(
        map(of_several_classes, class_hits), replicates=0, numbered_within=["loss"]
    )
    rows: list[dict[str, object]] = []
    for (loss,), of_loss in found.group_by("loss", maintain_order=True):
        is_single = of_loss.select("block", "repeat").n_unique() == 1
        ends = _ends_over_classes(class_hits, loss) if is_single else None
        for part in _PARTS:
            row = {"loss": loss, "part": part, **_mean(of_loss, part, has_one_split)}
            if ends is not None:
                low, high = ends[f"{part}_low"], ends[f"{part}_high"]
                row |= {"low": low, "high": high, "over": "" if low is None else "classes"}
            rows.append(row)
    return pl.DataFrame(rows, schema=_SCHEMA).sort("loss", maintain_order=True)


def _ends_over_classes(class_hits: Iterable[pl.DataFrame], loss: object) -> dict[str, Any]:
    """The bootstrap over classes of the one search of a loss."""
    of_loss = (of_several_classes(hits.filter(pl.col("loss") == loss)) for hits in class_hits)
    return class_optimism(of_loss).row(0, named=True)


def optimism_over_runs_by_loss(
    runs: pl.DataFrame, fresh: pl.DataFrame, *, has_one_split: bool
) -> pl.DataFrame:
    """Scores of picks in their searches minus those of fresh runs of them on the same classes.

    Args:
        runs: runs of the searches of one protocol, from ``checked_runs``.
        fresh: fresh runs of their picks, from ``fresh_runs``.
        has_one_split: whether runs of other repeats were validated on the same classes.

    Returns:
        As ``optimism_over_classes_by_loss``, the one part being ``run``; losses without fresh runs
        are left out.
    """
    found = fresh_run_optimism(pl.concat([runs, fresh]), across_repeats=has_one_split)
    known = found.drop_nulls("optimism")
    rows: list[dict[str, object]] = []
    for (loss,), group in known.group_by("loss", maintain_order=True):
        row = {"loss": loss, "part": "run", **_mean(group, "optimism", False)}
        if len(group) == 1:
            low, high = group["low"][0], group["high"][0]
            row |= {"low": low, "high": high, "over": "" if low is None else "seeds"}
        rows.append(row)
    return pl.DataFrame(rows, schema=_SCHEMA).sort("loss")


def _mean(found: pl.DataFrame, measure: str, has_one_split: bool) -> dict[str, object]:
    over, values = _units(found, measure, has_one_split)
    interval = t_interval(values)
    has_width = interval.standard_error is not None and interval.standard_error > NO_WIDTH
    return {
        "mean": interval.estimate,
        "low": interval.low if has_width else None,
        "high": interval.high if has_width else None,
        "num_searches": len(found),
        "over": over if has_width else "",
    }


def _units(found: pl.DataFrame, measure: str, has_one_split: bool) -> tuple[str, Sequence[float]]:
    """What the interval is over, and its values: blocks or repeats, whichever are more."""
    values = {
        unit: found.group_by(unit).agg(pl.col(measure).sort().mean()).sort(unit)[measure].to_list()
        for unit in ("block", "repeat")
    }
    num_repeats = 1 if has_one_split else len(values["repeat"])
    if max(num_repeats, len(values["block"])) == 1:
        return "", [math.fsum(found[measure]) / len(found)]
    unit = "repeat" if num_repeats > len(values["block"]) else "block"
    return f"{unit}s", values[unit]
