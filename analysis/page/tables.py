"""Tables as values: `table` makes one of rows and columns, each of which knows its cells.

A page, the terminal, CSV, LaTeX and JSON are made of that one value.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Self

import polars as pl

from podium.analysis.figures.series import Series
from podium.analysis.wording import (
    MISSING,
    number,
    p_value,
    range_below,
    range_of,
    signed,
)

PERCENT = 100

_LEAST_FIRST = re.compile(
    r"\b(beaten|p(?!\()|place|ranks?|sd|seconds|time|total)\b", re.IGNORECASE
)

Of = str | int | Callable[[Any], Any]
"""What a column reads of a row: a key or attribute, a position, or a function of the row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a table.

    Attributes:
        text: text of the cell.
        detail: a smaller second line.
        series: competitor whose marker is put before the text.
        is_best: whether the cell is bold.
        order: value by which the browser sorts the column; None sorts last. Where the text is a
            number this is the same number in the same unit with all its digits, for CSV.
        margin: half of the interval of ``detail`` that has the number in its middle, for the
            terminal; "" if it is not in the middle.
    """

    text: str
    detail: str = ""
    series: Series | None = None
    is_best: bool = False
    order: float | str | None = None
    margin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its head, and how the cell of a row is made.

    Attributes:
        label: text of the head.
        cell: cell of a row; by default the text of the row itself.
        is_number: whether its cells are aligned to the right.
        group: head above those of all neighbouring columns of the same group; "" for none.
        series: competitor whose marker is put before the label.
    """

    label: str
    cell: Callable[[Any], Cell] = lambda row: Cell(text=str(row))
    is_number: bool = True
    group: str = ""
    series: Series | None = None

    @property
    def is_descending(self) -> bool:
        """Whether the browser sorts the greatest to the top first."""
        return self.is_number and not _LEAST_FIRST.search(self.label)

    @classmethod
    def text(
        cls,
        label: str,
        of: Of,
        *,
        order: Of | None = None,
        is_number: bool = False,
    ) -> Self:
        """Text, a dash for None; sorted by ``order``, else by itself.

        Some texts are aligned to the right as numbers are, such as ``3 of 8``.
        """

        def cell(row: Any) -> Cell:
            text = _read(row, of)
            shown = MISSING if text is None else str(text)
            return Cell(text=shown, order=shown if order is None else _read(row, order))

        return cls(label=label, cell=cell, is_number=is_number)

    @classmethod
    def named(cls, label: str, of: Of, series: Mapping[str, Series]) -> Self:
        """A name after the marker of the competitor; of others, such as a baseline, without."""

        def cell(row: Any) -> Cell:
            name = str(_read(row, of))
            return Cell(text=name, series=series.get(name), order=name)

        return cls(label=label, cell=cell, is_number=False)

    @classmethod
    def number(
        cls,
        label: str,
        of: Of,
        digits: int = 2,
        *,
        factor: float = 1,
        below: tuple[Of, Of] | Of | None = None,
        best: Of | None = None,
        write: Callable[[float | None, int], str] = number,
        group: str = "",
        series: Series | None = None,
    ) -> Self:
        """A number, a dash for None and NaN.

        Args:
            label: text of the head.
            of: the number.
            digits: decimals shown.
            factor: factor from the unit of the row to that of the table.
            below: what is shown below: both ends of an interval in the unit of the row, or a text.
            best: whether the cell is bold.
            write: how the number is written.
            group: head above those of neighbouring columns of the same group.
            series: competitor whose marker is put before the label.
        """

        def cell(row: Any) -> Cell:
            value = _scaled(_read(row, of), factor)
            if isinstance(below, tuple):
                low, high = (_scaled(_read(row, end), factor) for end in below)
                detail = range_below(low, high, digits)
            else:
                detail = "" if below is None else _read(row, below)
            is_best = best is not None and bool(_read(row, best))
            return Cell(text=write(value, digits), detail=detail, is_best=is_best, order=value)

        return cls(label=label, cell=cell, group=group, series=series)

    @classmethod
    def signed(
        cls,
        label: str,
        of: Of,
        digits: int = 2,
        *,
        factor: float = 1,
        below: tuple[Of, Of] | Of | None = None,
    ) -> Self:
        """A number with its sign."""
        return cls.number(label, of, digits, factor=factor, below=below, write=signed)

    @classmethod
    def share(
        cls,
        label: str,
        of: Of,
        digits: int = 2,
        *,
        below: tuple[Of, Of] | None = None,
    ) -> Self:
        """A share of 1 as a number of percent, without the sign of it."""
        return cls.number(label, of, digits, factor=PERCENT, below=below)

    @classmethod
    def count(cls, label: str, of: Of) -> Self:
        """A whole number."""

        def cell(row: Any) -> Cell:
            value = _read(row, of)
            return Cell(text=MISSING if value is None else f"{value:,}", order=value)

        return cls(label=label, cell=cell)

    @classmethod
    def p_value(cls, label: str, of: Of, *, best: Of | None = None) -> Self:
        """A p-value."""
        return cls.number(label, of, best=best, write=lambda p, _: p_value(p))

    @classmethod
    def interval(
        cls,
        label: str,
        low: Of,
        high: Of,
        digits: int = 2,
        *,
        factor: float = 1,
    ) -> Self:
        """``1.20 to 3.40``, sorted by its lower end; a dash if an end is unknown."""

        def cell(row: Any) -> Cell:
            start, end = (_scaled(_read(row, it), factor) for it in (low, high))
            return Cell(text=range_of(start, end, digits), order=start)

        return cls(label=label, cell=cell)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table whose first column names its rows.

    Attributes:
        name: unique within the page; letters, digits and ``-``.
        caption: what the table shows, over what and how many.
        columns: heads of the columns.
        rows: rows from the top, each with a cell for every column.
        note: sentences shown below the table.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """The upper row of heads, each with how many columns it spans; () if there is none."""
        runs = [
            (group, sum(1 for _ in run))
            for group, run in itertools.groupby(self.columns, key=lambda column: column.group)
        ]
        return tuple(runs) if any(group for group, _ in runs) else ()

    def filled(self, num_names: int = 1) -> Self | None:
        """Without columns and rows that have no value; None if nothing is left.

        Args:
            num_names: how many columns, from the first, name the rows.
        """
        rows = [row for row in self.rows if any(it.text != MISSING for it in row[num_names:])]
        if not rows:
            return None
        kept = [any(it.text != MISSING for it in column) for column in zip(*rows, strict=True)]
        return replace(
            self,
            columns=tuple(itertools.compress(self.columns, kept)),
            rows=tuple(tuple(itertools.compress(row, kept)) for row in rows),
        )


def table(
    rows: pl.DataFrame | Iterable[Any],
    columns: Iterable[Column | None],
    *,
    name: str,
    caption: str,
    note: str = "",
) -> Table:
    """A table with a row for each row of a frame, or for each value.

    Args:
        rows: a frame, or values that the columns read.
        columns: columns from the left; None is none.
        name: unique within the page; letters, digits and ``-``.
        caption: what the table shows, over what and how many.
        note: sentences shown below the table.
    """
    shown = tuple(column for column in columns if column is not None)
    found = rows.iter_rows(named=True) if isinstance(rows, pl.DataFrame) else rows
    return Table(
        name=name,
        caption=caption,
        columns=shown,
        rows=tuple(tuple(column.cell(row) for column in shown) for row in found),
        note=note,
    )


def _read(row: Any, of: Of) -> Any:
    if callable(of):
        return of(row)
    if isinstance(of, str) and not isinstance(row, Mapping):
        return attrgetter(of)(row)
    return row[of]


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else factor * value
