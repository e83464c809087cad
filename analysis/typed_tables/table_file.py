"""Reads a table that a user typed or exported, by what its ending says: text or Parquet."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

import numpy as np
import polars as pl

from analysis.typed_tables.cells import Commas, commas_of, typed_column
from analysis.typed_tables.latex_tables import latex_rows
from analysis.typed_tables.text_tables import header_count, joined_names, markdown_rows
from podium.errors import CorruptFileError, PodiumError

_ENDINGS = (".csv", ".tsv", ".md", ".tex", ".parquet")
_MAX_BYTES = 256 * 2**20  # of a file; a table of a million scores has a tenth
_FIRST_ROWS = 4  # which hold the whole header
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
        path: CSV (with semicolons if its header has them), TSV, Markdown, LaTeX or Parquet.

    Raises:
        PodiumError: there is no such file, it is too large, it has another ending, holds no or
            several tables, a column that occurs twice, or one whose name begins with two
            underscores.
        CorruptFileError: the file is not what its name says.
    """
    if not is_table(path):
        raise PodiumError(f"a table must be a {', '.join(_ENDINGS)} file; got {path}")
    if not path.is_file():
        raise PodiumError(f"there is no file at {path}")
    if (num_bytes := path.stat().st_size) > _MAX_BYTES:
        raise PodiumError(f"a table must have at most {_MAX_BYTES} bytes; {path} has {num_bytes}")
    try:
        if path.suffix.lower() == ".parquet":
            return _table(pl.read_parquet(path), str(path), path.stem)
        return _text_table(_rows(path), path)
    except UnicodeDecodeError as error:
        raise _corrupt(path, _NO_TEXT) from error
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        if "utf-8" in reason.lower():
            reason = _NO_TEXT
        if "more fields than defined" in reason:
            reason = "a row has more cells than the header; quote cells that hold a comma"
        raise _corrupt(path, reason) from error


def _rows(path: Path) -> pl.DataFrame:
    """The rows of a text, header and all, as columns of text."""
    kind = path.suffix.lower()
    if kind in (".csv", ".tsv"):
        mark = "\t" if kind == ".tsv" else _separator(path)
        return pl.read_csv(path, separator=mark, has_header=False, infer_schema=False)
    text = path.read_text(encoding="utf-8-sig")
    found = (markdown_rows if kind == ".md" else latex_rows)(text, source=str(path))
    width = max(map(len, found), default=0)
    padded = [[*cells, *[""] * (width - len(cells))] for cells in found]
    columns = {f"column_{index}": pl.String for index in range(width)}
    return pl.DataFrame(padded, schema=columns, orient="row")


def table_of_frame(frame: pl.DataFrame) -> TableFile:
    """A frame as the table of a Parquet file with its rows.

    Raises:
        PodiumError: the name of a column begins with two underscores.
    """
    return _table(frame, "the table", "table")


def _table(frame: pl.DataFrame, source: str, stem: str) -> TableFile:
    """Floats of fewer bits become the numbers that they print as, so that they tie as in text."""
    _refuse_own(frame.columns, source)
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


def _separator(path: Path) -> str:
    with path.open("rb") as file:
        header = file.readline()
    return ";" if header.count(b";") > header.count(b",") else ","


def _text_table(rows: pl.DataFrame, path: Path) -> TableFile:
    """The table of rows of text, of which the first are its header."""
    rows = _clean(rows)
    rows = rows.filter(~pl.all_horizontal(pl.all().is_null()))
    if rows.is_empty():
        raise _corrupt(path, "it is empty")
    first = [[cell or "" for cell in row] for row in rows.head(_FIRST_ROWS).rows()]
    num_headers = header_count(first)
    names = joined_names(first[:num_headers], source=str(path))
    _refuse_own(names, str(path))
    body = rows[num_headers:]
    if any(column.count() for column in body[:, len(names) :]):
        raise _corrupt(path, "a row has more cells than the header")
    body = body[:, : len(names)]
    body.columns = list(names)
    commas = commas_of(body)
    columns = [typed_column(column, commas) for column in body]
    return TableFile(frame=pl.DataFrame(columns), source=str(path), stem=path.stem, commas=commas)


def _clean(frame: pl.DataFrame) -> pl.DataFrame:
    cells = pl.selectors.string().str.replace_all(r"[\s\p{Cc}]+", " ").str.strip_chars(" ")
    return frame.with_columns(cells.replace("", None))


def _corrupt(path: Path, reason: str) -> CorruptFileError:
    return CorruptFileError(f"{path} cannot be read as a table: {reason}")


def _refuse_own(names: Sequence[str], source: str) -> None:
    for name in names:
        if name.startswith(_OWN):
            raise PodiumError(
                f"a column's name must not begin with {_OWN}, as podium's own do; {source} has"
                f" {name!r}"
            )
