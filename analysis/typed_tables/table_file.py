"""Reads a table that a user typed, pasted or exported: text of any form, or Parquet."""

import codecs
import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

import polars as pl

from analysis.typed_tables.latex_tables import is_latex
from analysis.typed_tables.printed_cells import typed_column, unmarked
from analysis.typed_tables.text_tables import (
    decoded,
    header_count,
    is_markdown,
    joined_names,
    separator_of,
    text_table,
)
from podium.errors import CorruptFileError, PodiumError

_PARQUET = ".parquet"
_TEXTS = (".csv", ".tsv", ".txt", ".tex", ".md")
_MAX_BYTES = 256 * 2**20  # of a file; a table of a million scores has a tenth
_MAX_TEXT = 2**21  # of other text than plain CSV, which papers hold
_SAMPLE = 2**16  # bytes that decide whether a file is plain CSV
_OWN = "__"  # prefix of the columns that podium adds to those of a user


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """The table of a file.

    Attributes:
        frame: its rows, in the order of the file.
        source: path of the file, or what it is else, for messages.
        stem: name of the file without its ending.
        lines: line of the file of each row; None where rows follow one header row line by line.
        kept: index in the file of each row; None of a whole table.
    """

    frame: pl.DataFrame
    source: str
    stem: str
    lines: tuple[int, ...] | None = None
    kept: tuple[int, ...] | None = None

    def row(self, index: int) -> str:
        """``row 2``, or ``row 2 (line 9 of the file)`` where that is another number."""
        index = index if self.kept is None else self.kept[index]
        line = index + 2 if self.lines is None else self.lines[index]
        shown = "" if line == index + 2 else f" (line {line} of the file)"
        return f"row {index + 1}{shown}"


def is_table(place: object) -> TypeGuard[Path]:
    """Whether it is a path of this machine whose name says that it is a table, in any case."""
    return isinstance(place, Path) and place.suffix.lower() in (*_TEXTS, _PARQUET)


def read_table_file(path: Path, *, as_typed: bool = False) -> TableFile:
    """The table of a text or Parquet file, without blanks around cells.

    Columns are numbers if each of their cells is one, or missing: with an uncertainty, a percent
    sign, in bold or with a decimal comma too. Line breaks and control characters inside a cell of
    text become a blank: a name has to fit in a line of a report.

    Args:
        path: CSV with any separator, LaTeX or Markdown, which the text says; or Parquet.
        as_typed: whether to return all cells of a text as text, numbers as they were typed.

    Raises:
        PodiumError: there is no such file, it is too large, it has another ending, holds several
            tables, a column that occurs twice, or one whose name begins with two underscores.
        CorruptFileError: the file is not what its name says.
    """
    if not is_table(path):
        raise PodiumError(f"a table must be a {', '.join(_TEXTS)} or {_PARQUET} file; got {path}")
    if not path.is_file():
        raise PodiumError(f"there is no file at {path}")
    if (num_bytes := path.stat().st_size) > _MAX_BYTES:
        raise PodiumError(f"a table must have at most {_MAX_BYTES} bytes; {path} has {num_bytes}")
    if path.suffix.lower() == _PARQUET:
        return _parquet(path)
    names = _plain_header(path)
    if names is not None:
        return TableFile(
            frame=_plain_csv(path, names, as_typed=as_typed), source=str(path), stem=path.stem
        )
    if num_bytes > _MAX_TEXT:
        raise PodiumError(
            f"a table of more than {_MAX_TEXT} bytes must be CSV in UTF-8, divided by commas, with"
            f" one header row; {path} has {num_bytes}"
        )
    table = text_table(decoded(path.read_bytes(), source=str(path)), source=str(path))
    _refuse_own(table.names, str(path))
    columns = dict.fromkeys(table.names, pl.String)
    frame = pl.DataFrame(table.rows, schema=columns, orient="row")
    frame = frame.with_columns(pl.all().replace("", None))
    return TableFile(
        frame=frame if as_typed else frame.select(map(typed_column, frame)),
        source=str(path),
        stem=path.stem,
        lines=table.lines,
    )


def _parquet(path: Path) -> TableFile:
    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise CorruptFileError(f"{path} cannot be read as parquet: {reason}") from error
    _refuse_own(frame.columns, str(path))
    return TableFile(frame=_clean(frame), source=str(path), stem=path.stem)


def table_of_frame(frame: pl.DataFrame) -> TableFile:
    """A frame as the table of a Parquet file with its rows.

    Raises:
        PodiumError: the name of a column begins with two underscores.
    """
    source = "the table"
    _refuse_own(frame.columns, source)
    return TableFile(frame=_clean(frame), source=source, stem="table")


def _plain_header(path: Path) -> list[str] | None:
    """The names of the columns of plain CSV, which polars reads by itself; None of other text.

    Plain CSV is in UTF-8, divided by commas, and has one header row.
    """
    with path.open("rb") as file:
        sample = file.read(_SAMPLE)
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return None
    try:
        text = sample.decode("utf-8-sig", errors="ignore")
        if is_latex(text) or is_markdown(text) or separator_of(text.replace("\r", "\n")) != ",":
            return None
        rows = [[cell.strip() for cell in row] for row in _first_rows(text)]
    except csv.Error:
        return None
    if len(rows) > 1 and header_count(rows) > 1:
        return None
    names = rows[0] if rows else []
    if names and "" in names:
        return None
    joined_names(rows[:1] or [[]], source=str(path))
    _refuse_own(names, str(path))
    return names


def _first_rows(text: str) -> list[list[str]]:
    """The first rows of a sample that may end anywhere."""
    rows = []
    for row in csv.reader(text.splitlines()):
        if any(row):
            rows.append(row)
        if len(rows) == 3:
            break
    return rows


def _plain_csv(path: Path, names: list[str], *, as_typed: bool) -> pl.DataFrame:
    try:
        frame = pl.read_csv(
            path, infer_schema=not as_typed, infer_schema_length=None, new_columns=names
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        if "more fields than defined" in reason:
            reason = "a row has more cells than the header; quote cells that hold a comma"
        if "utf-8" in reason.lower():
            reason = "it is no UTF-8 text; save it as CSV in UTF-8"
        raise CorruptFileError(f"{path} cannot be read as csv: {reason}") from error
    clean = _clean(frame).with_columns(pl.selectors.string().map_batches(unmarked))
    if as_typed:
        return clean
    texts = clean.select(pl.selectors.string()).columns
    return clean.with_columns(typed_column(clean[name]) for name in texts)


def _clean(frame: pl.DataFrame) -> pl.DataFrame:
    cells = pl.selectors.string().str.replace_all(r"[\s\p{Cc}]+", " ").str.strip_chars(" ")
    return frame.with_columns(cells.replace("", None))


def _refuse_own(names: Sequence[str], source: str) -> None:
    for name in names:
        if name.startswith(_OWN):
            raise PodiumError(
                f"a column's name must not begin with {_OWN}, as podium's own do; {source} has"
                f" {name!r}"
            )
