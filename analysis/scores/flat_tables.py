"""The long tables of a results folder as flat files, Parquet or CSV."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import polars as pl

from podium.errors import PodiumError
from podium.orchestrator.results.storage.local_files import writing
from podium.orchestrator.results.trial_files.reader import Reader

TableFormat = Literal["parquet", "csv"]

_KEYS = 2

TABLES: dict[str, Callable[[Reader], pl.LazyFrame]] = {
    "trials": Reader.trials,
    "scores": Reader.scores,
    "class_hits": Reader.class_hits,
    "test_scores": Reader.test_scores,
    "test_class_hits": Reader.test_class_hits,
    "attempts": Reader.attempts,
}
"""File name without its ending -> the frame in it."""


def write_tables(reader: Reader, folder: Path, kind: TableFormat) -> tuple[Path, ...]:
    """Write every table of `TABLES`, in the order of its reader; the same store, the same bytes.

    An empty table is a file too, with its columns. Pictures of retrievals are in none. Tables are
    written as they are read, not gathered in memory first. Files of these names are replaced, each
    at once.

    Args:
        reader: reader of the results folder.
        folder: folder to write in; made if it is missing.
        kind: file format; times in CSV are ISO 8601 in UTC, missing values are empty.

    Returns:
        Paths of the files.

    Raises:
        PodiumError: a file of the store is corrupt, one cannot be written, or a file of such a
            name holds something else; then none is written.
    """
    for name, table in TABLES.items():
        path = folder / f"{name}.{kind}"
        if path.exists() and not _holds(path, kind, table(reader)):
            raise PodiumError(f"{path} is no table that podium wrote; it is not overwritten")
    files = []
    for name, table in TABLES.items():
        path = folder / f"{name}.{kind}"
        with writing(path) as file:
            if kind == "parquet":
                table(reader).sink_parquet(file)
            else:
                table(reader).sink_csv(file)
        files.append(path)
    return tuple(files)


def _holds(path: Path, kind: TableFormat, table: pl.LazyFrame) -> bool:
    """Whether a file begins with the columns of a table; further ones come as a study grows."""
    first = table.collect_schema().names()[:_KEYS]
    scan = pl.scan_parquet if kind == "parquet" else pl.scan_csv
    try:
        return scan(path).collect_schema().names()[:_KEYS] == first
    except (pl.exceptions.PolarsError, OSError):
        return False
