"""Rows of estimates with their intervals: dots or bars, in groups or not."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from podium.analysis.figures.plot import Plot, rounded
from podium.analysis.figures.series import Series

_MARGIN = 0.04  # of the range, between the marks and the ends of the axis
_REACH = 2.2  # an interval of a bar is shown up to so many times the longest bar


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalRow:
    """One row.

    Attributes:
        name: label of the row.
        value: its estimate; None if unknown.
        low: lower end of the interval around it; None without one.
        high: upper end; an interval with a lower end alone is open above.
        series: look of the competitor it belongs to; None for the first colour.
        group: head above neighbouring rows of the same group; "" for none.
        is_filled: False for a hollow mark.
        dots: values of single runs, folds or seeds.
        columns: texts at the right of the row, one for each head.
        note: what else is known of it, shown when it is pointed at.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    series: Series | None = None
    group: str = ""
    is_filled: bool = True
    dots: tuple[float, ...] = ()
    columns: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalAxis:
    """The axis of the values, what is marked on it, and what a reader is told of the marks.

    Attributes:
        label: what the values are, with their unit.
        value: what the value of a row is; "" for the label.
        interval: what the interval of a row is.
        dots: what the dots of a row are.
        heads: heads of the columns of texts.
        reference: value with a line across all rows; None for none.
        region: range that is shaded across all rows; None for none.
        region_label: what the shaded range is.
        limits: ends that the axis never exceeds.
    """

    label: str
    value: str = ""
    interval: str = "95 % interval"
    dots: str = ""
    heads: tuple[str, ...] = ()
    reference: float | None = None
    region: tuple[float, float] | None = None
    region_label: str = ""
    limits: tuple[float, float] = (-math.inf, math.inf)


def intervals_plot(
    rows: Sequence[IntervalRow],
    axis: IntervalAxis,
    *,
    name: str,
    title: str,
    label: str = "",
    is_bars: bool = False,
) -> Plot:
    """The plot.

    Args:
        rows: rows from the top; those of a group are neighbours. Neighbours of one name lie on
            one line, such as the competitors of a block.
        axis: the axis of the values.
        name: name of the plot, unique within the page.
        title: text read out as its name.
        label: what distinguishes it from the other plots of its figure.
        is_bars: whether values are bars from zero; an interval that extends further than 2.2
            times the longest bar is cut there.
    """
    domain = _domain(rows, axis, is_bars=is_bars)
    looks = {row.series.name: row.series for row in rows if row.series}
    return Plot(
        kind="intervals",
        name=name,
        title=title,
        label=label,
        values={
            "rows": _columns([_fields(row) for row in rows]),
            "looks": {key: [it.css_colour, it.symbol] for key, it in looks.items()},
            "axis": axis.label,
            "reference": rounded(axis.reference),
            "region": axis.region and [rounded(end) for end in axis.region],
            "regionLabel": axis.region_label,
            "domain": [rounded(end) for end in domain],
            "words": {
                "value": axis.value or axis.label,
                "interval": axis.interval,
                "dots": axis.dots,
            },
            "heads": list(axis.heads),
            "isBars": is_bars,
        },
    )


def _fields(row: IntervalRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "group": row.group,
        "competitor": row.series.name if row.series else None,
        "value": rounded(row.value),
        "low": rounded(row.low),
        "high": rounded(row.high),
        "isHollow": not row.is_filled,
        "dots": [rounded(dot) for dot in row.dots],
        "columns": list(row.columns),
        "note": row.note,
    }


def _columns(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """The rows as one list for each field; fields without a value in any row are left out."""
    fields = rows[0] if rows else {}
    every = {field: [row[field] for row in rows] for field in fields}
    return {
        field: values
        for field, values in every.items()
        if field == "name" or any(value not in (None, "", False, []) for value in values)
    }


def _domain(
    rows: Sequence[IntervalRow], axis: IntervalAxis, *, is_bars: bool
) -> tuple[float, float]:
    marked = [*(axis.region or ()), *([] if axis.reference is None else [axis.reference])]
    drawn = [*_values(rows), *([0.0] if is_bars else []), *marked]
    ends = [*drawn, *(end for row in rows for end in _ends(row))]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    longest = max(map(abs, drawn), default=0.0)
    if is_bars and longest:
        low, high = max(low, -_REACH * longest), min(high, _REACH * longest)
    if high == math.inf:
        high = max(end for end in [*ends, 0.0] if end < math.inf)
    margin = _MARGIN * (high - low or abs(high) or 1.0)
    low, high = low - margin * (not is_bars or low < 0), high + margin
    return max(low, axis.limits[0]), min(high, axis.limits[1])


def _values(rows: Sequence[IntervalRow]) -> Iterator[float]:
    for row in rows:
        yield from () if row.value is None else (row.value,)
        yield from row.dots


def _ends(row: IntervalRow) -> Iterator[float]:
    """The ends of its interval; one that is open above ends beyond every axis."""
    if row.low is not None:
        yield from (row.low, math.inf if row.high is None else row.high)
