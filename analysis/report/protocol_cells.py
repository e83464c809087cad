"""Cells of the tables on protocols: means with their intervals, in points or percent."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from analysis.figures.estimate import Estimate
from analysis.figures.style import Series
from analysis.page.html_page import Cell
from analysis.protocols.protocol_study import ProtocolStudy
from analysis.study_results.study_results import PERCENT
from analysis.wording import number, range_of, signed

__all__ = ["estimate", "mean_cell", "name_cell", "over", "row_of"]


def row_of(means: pl.DataFrame, measure: str, **place: str) -> dict[str, Any] | None:
    """The row of a frame of ``group_means``; None if it has no mean."""
    if means.is_empty():
        return None
    found = means.filter(
        pl.col("measure") == measure,
        pl.col("mean").is_not_null(),
        *(pl.col(name) == value for name, value in place.items()),
    )
    return found.row(0, named=True) if len(found) else None


def estimate(row: Mapping[str, Any] | None, *, factor: float = PERCENT) -> Estimate | None:
    """A mean with its interval over repeats or seeds, else over blocks, for a figure."""
    if row is None:
        return None
    low, high = _ends(row)
    return Estimate(
        value=factor * row["mean"],
        low=None if low is None else factor * low,
        high=None if high is None else factor * high,
    )


def mean_cell(
    row: Mapping[str, Any] | None, *, factor: float = PERCENT, is_gain: bool = False
) -> Cell:
    """A mean with its interval below it; a gain has a sign."""
    if row is None:
        return Cell(text=number(None))
    low, high = _ends(row)
    value = factor * row["mean"]
    interval = "" if low is None or high is None else range_of(factor * low, factor * high)
    return Cell(text=signed(value) if is_gain else number(value), detail=interval, order=value)


def name_cell(study: ProtocolStudy, label: str, series: Mapping[str, Series]) -> Cell:
    """The protocol with its marker, and whether it leaks."""
    return Cell(text=study.shown[label], series=series[label], order=study.order.index(label))


def over(means: pl.DataFrame, unit: str = "repeats") -> str:
    """What the intervals of a frame are over, for a caption; empty without any."""
    if means.is_empty():
        return ""
    if means["low"].count():
        return f"; 95 % intervals over {unit}"
    return "; 95 % intervals over blocks" if means["block_low"].count() else ""


def _ends(row: Mapping[str, Any]) -> tuple[float | None, float | None]:
    prefix = "block_" if row["low"] is None else ""
    return row[f"{prefix}low"], row[f"{prefix}high"]
