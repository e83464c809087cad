"""Reads a table that a user typed or exported, by what its ending says: text or Parquet."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

import numpy as np
import polars as pl

from podium.analysis.typed_tables.cells import Commas, commas_of, typed_column
from podium.errors import CorruptFileError, PodiumError

_ENDINGS = (".csv", ".tsv", ".parquet")
# Bytes of a file, unpacked, and of its texts; a table of a million scores has a tenth.
_MOST = {"columns": 1000, "cells": 2**24, "bytes": 256 * 2**20}
_MAX_NAME = 1000  # letters; what a name says takes quadratic time
_NO_TEXT = "it is no UTF-8 text; save it in UTF-8"
_OWN = "__"  # prefix of the columns that podium adds to those of a user


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """The table of a file.

    Attributes:
        frame: its rows, in the order of the file.
        source: path of the file, or what it is else, for messages.
        stem: name of the file without its ending.
        commas: what the commas of its numbers are.
        kept: index in the file of each row; None of a whole table.
    """

    frame: pl.DataFrame
    source: str
    stem: str
    commas: Commas = "none"
    kept: pl.Series | None = None

    def row(self, index: int) -> str:
        """``row 2``: the second below the header, not counting empty ones."""
        return f"row {(index if self.kept is None else int(self.kept[index])) + 1}"


def is_table(place: object) -> TypeGuard[Path]:
    """Whether it is a path of this machine whose name says that it is a table, in any case."""
    return isinstance(place, Path) and place.suffix.lower() in _ENDINGS


def read_table_file(path: Path) -> TableFile:
    """The table of a text or Parquet file, without blanks around cells.

    Columns are numbers if each of their cells is one, or missing. Line breaks and control
    characters inside a cell become a blank: a name has to fit in a line of a report.

    Args:
        path: CSV (with semicolons if its header has them), TSV or Parquet.

    Raises:
        PodiumError: there is no such file, it is too large or would be in memory, it has another
            ending, holds a column that occurs twice, or one whose name is too long or begins with
            two underscores.
        CorruptFileError: the file is not what its name says.
    """
    if not is_table(path):
        raise PodiumError(f"a table must be a {', '.join(_ENDINGS)} file; got {path}")
    if not path.is_file():
        raise PodiumError(f"there is no file at {path}")
    _refuse_beyond(path, bytes=path.stat().st_size)
    try:
        if path.suffix.lower() == ".parquet":
            return _table(_parquet_rows(path), str(path), path.stem)
        return _text_table(_rows(path), path)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        if "utf-8" in reason.lower():
            reason = _NO_TEXT
        if "more fields than defined" in reason:
            reason = "a row has more cells than the header; quote cells that hold a comma"
        raise _corrupt(path, reason[:_MAX_NAME]) from error


def _parquet_rows(path: Path) -> pl.DataFrame:
    """The rows of a Parquet file, of which few bytes can stand for gigabytes."""
    import pyarrow as pa  # no text needs it
    import pyarrow.parquet as pq

    try:
        facts = pq.read_metadata(path)
    except pa.ArrowException as error:
        raise _corrupt(path, str(error)) from error
    groups = [facts.row_group(index) for index in range(facts.num_row_groups)]
    columns = range(facts.num_columns)
    cells = sum(group.column(index).num_values for group in groups for index in columns)
    num_bytes = sum(group.total_byte_size for group in groups)
    _refuse_beyond(path, columns=len(columns), cells=cells, bytes=num_bytes)
    found = pl.read_parquet(path, glob=False)
    texts = [column.str.len_bytes() for column in found if column.dtype == pl.String]
    _refuse_beyond(path, bytes=sum(int(lengths.cast(pl.Int64).sum()) for lengths in texts))
    return found


def _rows(path: Path) -> pl.DataFrame:
    """The rows of a text of separated cells, header and all, as columns of text."""
    with path.open("rb") as file:
        header = re.sub(rb'"[^"]*"', b"", file.readline())
    is_semicolon = header.count(b";") > header.count(b",")
    mark = "\t" if path.suffix.lower() == ".tsv" else ";" if is_semicolon else ","
    _refuse_beyond(path, columns=1 + header.count(mark.encode()))  # polars takes long to name them
    rows = pl.scan_csv(path, separator=mark, has_header=False, infer_schema=False, glob=False)
    width = len(rows.collect_schema())
    height = rows.select(pl.len()).collect().item()
    _refuse_beyond(path, columns=width, cells=width * height)
    return rows.collect()


def table_of_frame(frame: pl.DataFrame) -> TableFile:
    """A frame as the table of a Parquet file with its rows.

    Raises:
        PodiumError: the name of a column begins with two underscores.
    """
    return _table(frame, "the table", "table")


def _table(frame: pl.DataFrame, source: str, stem: str) -> TableFile:
    """Floats of fewer bits become the numbers that they print as, so that they tie as in text."""
    _refuse_names(frame.columns, source)
    single = pl.selectors.by_dtype(pl.Float32).cast(pl.String).cast(pl.Float64)
    half = pl.selectors.by_dtype(pl.Float16).map_batches(_of_half, return_dtype=pl.Float64)
    frame = _clean(frame.with_columns(single, half))
    commas = commas_of(frame.select(pl.selectors.string()))
    return TableFile(frame=frame, source=source, stem=stem, commas=commas)


def _of_half(column: pl.Series) -> pl.Series:
    """Floats of 16 bits by their shortest text, which polars writes as that of 32 bits."""
    values = column.cast(pl.Float64)
    known = values.drop_nulls().unique()
    return values.replace(known, [float(str(np.float16(value))) for value in known])


def _text_table(rows: pl.DataFrame, path: Path) -> TableFile:
    """The table of rows of text, of which the first is its header."""
    rows = _clean(rows)
    rows = rows.filter(~pl.all_horizontal(pl.all().is_null()))
    if rows.is_empty():
        raise _corrupt(path, "it is empty")
    names = _names(rows.row(0), str(path))
    body = rows[1:]
    if any(column.count() for column in body[:, len(names) :]):
        raise _corrupt(path, "a row has more cells than the header")
    body = body[:, : len(names)]
    body.columns = names
    commas = commas_of(body)
    columns = [typed_column(column, commas) for column in body]
    return TableFile(frame=pl.DataFrame(columns), source=str(path), stem=path.stem, commas=commas)


def _names(header: Sequence[str | None], source: str) -> list[str]:
    """One name for each column up to the last that has one.

    Raises:
        PodiumError: two columns have one name, or one has a name that no column may have.
    """
    width = max((at for at, name in enumerate(header, start=1) if name), default=0)
    names = [name or f"column {at}" for at, name in enumerate(header[:width], start=1)]
    _refuse_names(names, source)
    for name, times in Counter(names).items():
        if times > 1:
            raise PodiumError(
                f"each column must have a name of its own; {source} has {name!r} {times} times"
            )
    return names


def _clean(frame: pl.DataFrame) -> pl.DataFrame:
    cells = pl.selectors.string().str.replace_all(r"[\s\p{Cc}]+", " ").str.strip_chars(" ")
    return frame.with_columns(cells.replace("", None))


def _corrupt(path: Path, reason: str) -> CorruptFileError:
    return CorruptFileError(f"{path} cannot be read as a table: {reason}")


def _refuse_beyond(path: Path, **found: int) -> None:
    for noun, num in found.items():
        if num > _MOST[noun]:
            raise PodiumError(
                f"a table must have at most {_MOST[noun]:,} {noun}; {path} has {num:,}"
            )


def _refuse_names(names: Sequence[str], source: str) -> None:
    for name in names:
        if len(name) > _MAX_NAME:
            raise PodiumError(
                f"a column's name must have at most {_MAX_NAME:,} letters; {source} has one that"
                f" begins {name[:20]!r}"
            )
        if name.startswith(_OWN):
            raise PodiumError(
                f"a column's name must not begin with {_OWN}, as podium's own do; {source} has"
                f" {name!r}"
            )
