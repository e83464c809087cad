"""The long tables of a results folder as tables of Delta Lake, a format of lakehouses."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pyarrow as pa

from analysis.scores.flat_tables import TABLES
from orchestrator.results.trial_files.reader import Reader
from podium.errors import PodiumError, StoreError

_KEYS = 2


def write_delta_tables(reader: Reader, folder: Path) -> tuple[Path, ...]:
    """Write every table of `TABLES` as a new version of the Delta table of its name.

    A version replaces all rows of the one before, since those of older trials change too: a
    search finds another winner, failed trials are retried, a study gains columns. Each version is
    put in force by one commit, so that any version holds each row exactly once; a write that was
    killed leaves the version before. Tables are written as they are read; rows of a Delta table
    have no order.

    Args:
        reader: reader of the results folder.
        folder: folder of the tables; made if it is missing.

    Returns:
        Paths of the tables, which are folders.

    Raises:
        PodiumError: the package deltalake is missing; or a table's folder holds something else,
            and then none is written.
        CorruptFileError: a file of the results folder is damaged.
        StoreError: a table cannot be written, such as while another export writes it.
    """
    try:
        from deltalake import write_deltalake
        from deltalake.exceptions import DeltaError
    except ImportError as error:
        raise PodiumError(
            "podium export delta needs deltalake, which is not installed: "
            "pip install 'podium[delta]', or in a checkout pip install '.[delta]'"
        ) from error
    for name, table in TABLES.items():
        _refuse_foreign(folder / name, table(reader))
    for name, table in TABLES.items():
        path, stream = folder / name, _Stream(table(reader))
        try:
            write_deltalake(
                path, stream.rows, mode="overwrite", schema_mode="overwrite", name=name
            )
        except (DeltaError, OSError) as error:
            raise stream.error or StoreError(f"{path} cannot be written: {error}") from error
    return tuple(folder / name for name in TABLES)


class _Stream:
    """A frame as Arrow batches.

    Attributes:
        rows: the batches.
        error: what reading the frame raised: across the Arrow interface only its text arrives.
    """

    def __init__(self, frame: pl.LazyFrame) -> None:
        self.error: PodiumError | None = None
        schema = pl.DataFrame(schema=frame.collect_schema()).to_arrow().schema
        self.rows = pa.RecordBatchReader.from_batches(schema, self._batches(frame))

    def _batches(self, frame: pl.LazyFrame) -> Iterator[pa.RecordBatch]:
        try:
            for rows in frame.collect_batches(lazy=True):
                yield from rows.to_arrow().to_batches()
        except PodiumError as error:
            self.error = error
            raise


def _refuse_foreign(path: Path, frame: pl.LazyFrame) -> None:
    """Refuse to replace what is no Delta table that begins with the columns of a frame."""
    from deltalake import DeltaTable

    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    keys = frame.collect_schema().names()[:_KEYS]
    if path.is_dir() and DeltaTable.is_deltatable(path):
        fields = DeltaTable(path).schema().fields
        if [field.name for field in fields[:_KEYS]] == keys:
            return
    raise PodiumError(f"{path} is no table that podium wrote; it is not overwritten")
