"""Reads a table that a user typed or exported: CSV or Parquet."""

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TypeGuard

import polars as pl

from podium.errors import CorruptFileError, PodiumError

_KINDS = (".csv", ".parquet")
_MAX_BYTES = 256 * 2**20  # of a file; a table of a million scores has a tenth
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
_OWN = "__"  # prefix of the columns that podium adds to those of a user


def is_table(place: object) -> TypeGuard[Path]:
    """Whether it is a path of this machine whose name says that it is a table, in any case."""
    return isinstance(place, Path) and place.suffix.lower() in _KINDS


def read_frame(path: Path, *, as_typed: bool = False) -> pl.DataFrame:
    """A CSV or Parquet file, with the text of a CSV file without blanks around it.

    Line breaks and control characters inside a cell of text become a blank: a name has to fit in
    a line of a report.

    Args:
        path: CSV or Parquet file.
        as_typed: whether to return all cells of a CSV file as text, numbers as they were typed.

    Raises:
        PodiumError: there is no such file, it is too large, it has another ending, other
            separators than commas, a column that occurs twice, or one whose name begins with two
            underscores.
        CorruptFileError: the file is not what its name says.
    """
    if not is_table(path):
        raise PodiumError(f"a table must be a {' or '.join(_KINDS)} file; got {path}")
    if not path.is_file():
        raise PodiumError(f"there is no file at {path}")
    if (num_bytes := path.stat().st_size) > _MAX_BYTES:
        raise PodiumError(f"a table must have at most {_MAX_BYTES} bytes; {path} has {num_bytes}")
    try:
        if path.suffix.lower() == ".parquet":
            frame = pl.read_parquet(path)
            _refuse_own(frame.columns, path)
            return frame
        names = _header(path)
        frame = pl.read_csv(
            path, infer_schema=not as_typed, infer_schema_length=None, new_columns=names
        )
    except UnicodeDecodeError as error:
        raise CorruptFileError(
            f"{path} cannot be read as csv: it is no UTF-8 text; save it as CSV in UTF-8"
        ) from error
    except (pl.exceptions.PolarsError, OSError, csv.Error) as error:
        reason = str(error).splitlines()[0]
        if "more fields than defined" in reason:
            reason = "a row has more cells than the header; quote cells that hold a comma"
        kind = path.suffix[1:].lower()
        raise CorruptFileError(f"{path} cannot be read as {kind}: {reason}") from error
    cells = pl.selectors.string().str.replace_all(r"[\s\p{Cc}]+", " ").str.strip_chars(" ")
    clean = frame.with_columns(cells.replace("", None))
    return clean if as_typed else clean.with_columns(_numbers(clean, frame))


def _numbers(clean: pl.DataFrame, raw: pl.DataFrame) -> list[pl.Series]:
    """The columns that were taken for text only because of the blanks around their numbers."""
    found = []
    for name in clean.select(pl.selectors.string()).columns:
        if clean[name].equals(raw[name]):
            continue
        for kind in (pl.Int64, pl.Float64):
            numbers = clean[name].cast(kind, strict=False)
            if numbers.count() == clean[name].count():
                found.append(numbers)
                break
    return found


def _header(path: Path) -> list[str]:
    """The names of a CSV file's columns, checked."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        names = [name.strip() for name in next(csv.reader(file), [])]
    if len(names) == 1:
        for sign, what in _SEPARATORS.items():
            if sign in names[0]:
                raise PodiumError(
                    f"the cells of a table must be divided by commas, and decimals by points;"
                    f" those of {path} are divided by {what}"
                )
    for name, times in Counter(names).items():
        if times > 1 and name:
            raise PodiumError(
                f"each column must have a name of its own; {path} has {name!r} {times} times"
            )
    _refuse_own(names, path)
    return names


def _refuse_own(names: Sequence[str], path: Path) -> None:
    for name in names:
        if name.startswith(_OWN):
            raise PodiumError(
                f"a column's name must not begin with {_OWN}, as podium's own do; {path} has"
                f" {name!r}"
            )
