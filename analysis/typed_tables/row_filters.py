"""Conditions ``column=value`` on the rows of a table."""

import difflib
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from podium.analysis.typed_tables.table_file import TableFile
from podium.analysis.wording import listed
from podium.errors import PodiumError

Condition = tuple[str, str]

_SHOWN = 12
_TRUTH = {"true": True, "false": False}


def parse_condition(text: str) -> Condition:
    """``k=1`` to ``("k", "1")``; only the first ``=`` divides.

    Raises:
        PodiumError: there is no ``=``, or nothing before it.
    """
    column, divider, value = (part.strip() for part in text.partition("="))
    if not column or not divider:
        raise PodiumError(f"a condition must be column=value, such as k=1; got {text!r}")
    return column, value


def filter_rows(
    frame: pl.DataFrame, conditions: Sequence[Condition], *, source: str
) -> pl.DataFrame:
    """The rows that meet every condition, compared in the column's own type.

    Args:
        frame: table to filter.
        conditions: column and value of each condition, as typed.
        source: path or name of the table, for messages.

    Raises:
        PodiumError: an unknown column, a value that the column's type cannot hold, or no row left.
    """
    for column, text in conditions:
        if column not in frame.columns:
            raise missing_column(column, frame.columns, source=source)
        kept = frame.filter(_meets(column, text, frame.schema[column]))
        if kept.is_empty():
            known = frame[column].unique().drop_nulls().sort().cast(pl.String).to_list()
            raise PodiumError(
                f"no row of {source} has {column} = {text}; `{column}` holds "
                f"{listed(known, most=_SHOWN)}"
            )
        frame = kept
    return frame


def filter_file(table: TableFile, conditions: Sequence[Condition]) -> TableFile:
    """The rows of a file that meet every condition, by which rows of it they are."""
    if not conditions:
        return table
    row = "__row"
    kept = filter_rows(table.frame.with_row_index(row), conditions, source=table.source)
    return replace(table, frame=kept.drop(row), kept=kept[row])


def missing_column(column: str, known: Sequence[str], *, source: str) -> PodiumError:
    """The error for a column that ``source`` lacks, with the nearest names."""
    columns = f"its columns are {', '.join(known)}.{near_hint(column, known)}"
    return PodiumError(f"{source} has no column {column!r}; {columns}")


def near_hint(name: str, known: Sequence[str]) -> str:
    """The question whether a name like an unknown one was meant; empty if there is none."""
    near = difflib.get_close_matches(name, known, n=3)
    return f" Did you mean {' or '.join(near)}?" if near else ""


def _meets(column: str, text: str, kind: pl.DataType) -> pl.Expr:
    try:
        if kind.is_integer():
            return pl.col(column) == int(text)
        if kind.is_numeric():
            return pl.col(column) == float(text)
        if kind == pl.Boolean:
            return pl.col(column) == _TRUTH[text.lower()]
    except (ValueError, KeyError):
        raise PodiumError(
            f"column `{column}` holds values of type {kind}, which {text!r} is not"
        ) from None
    return pl.col(column).cast(pl.String) == text
