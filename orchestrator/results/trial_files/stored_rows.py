"""Queries on the trial files of a results folder, which may be gathered meanwhile."""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain

import polars as pl
import pyarrow as pa

from podium.errors import CorruptFileError, StoreError
from podium.orchestrator.results.records.store_paths import StudyPaths, is_file_name
from podium.orchestrator.results.records.study_snapshot import Store
from podium.orchestrator.results.records.trial_schema import IDENTITY_COLUMNS
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.storage.printable_text import has_control_characters
from podium.orchestrator.results.trial_files.inventory import open_rows, take_inventory
from podium.orchestrator.results.trial_files.parquet_file import collect, scan

# Columns whose values name files, or are put into sentences, tables and figures.
_FILE_NAMES = ("trial_id", "search")
_NAMES = {name for name, kind in IDENTITY_COLUMNS if kind == pa.string()}


class StoredRows:
    """Every trial of a results folder as of now, exactly once, one row each.

    Args:
        paths: paths of the folder.
        store: whose files they must be.
        whole: files that were checked; others are added once they are.
    """

    def __init__(self, paths: StudyPaths, store: Store, whole: set[Place]) -> None:
        self._paths = paths
        self._store = store
        self._whole = whole
        self._files = take_inventory(paths)

    def collect(
        self,
        query: Callable[[pl.LazyFrame], pl.LazyFrame],
        searches: Collection[str] | None = None,
        *,
        in_parts: bool = False,
    ) -> pl.DataFrame:
        """The result of a query on all rows, or on those of some searches.

        Args:
            query: what to make of the rows. It is run again where files were gathered meanwhile.
            searches: ids of the searches whose rows are asked for; None means all.
            in_parts: whether files are read a few row groups at a time, each once, so that memory
                holds little more than the result; rows come in no order then.

        Raises:
            CorruptFileError: a file is truncated, foreign or damaged, or holds names that podium
                never writes.
            StoreError: the folder cannot be read.
        """
        while True:
            try:
                rows = query(self._scan(searches))
                found = collect(rows, self._paths.folder, in_parts=in_parts)
            except (OSError, CorruptFileError, pl.exceptions.PolarsError) as error:
                self._files = self._files_after(error)
                continue
            _check_names(found, self._paths)
            return found

    def batches(
        self,
        query: Callable[[pl.LazyFrame], pl.LazyFrame],
        *,
        columns: Sequence[str],
        order: Sequence[str],
    ) -> Iterator[pl.DataFrame]:
        """The result of a query that filters rows, in order, a stage of a search at a time.

        Each trial comes once, also if files are gathered between two parts.

        Args:
            query: filter of rows; all columns are there before and after it.
            columns: columns of the result; of others only what the query needs is read.
            order: columns to sort by, of which the first two are ``stage`` and ``search``.
        """
        parts = self.collect(lambda rows: query(rows).select("stage", "search").unique())
        yield self.collect(lambda rows: query(rows).select(columns), ())  # even without a part
        for stage, search in parts.sort("stage", "search").iter_rows():

            def of_part(rows: pl.LazyFrame, stage: str = stage) -> pl.LazyFrame:
                wanted = query(rows).filter(pl.col("stage") == stage)
                return wanted.sort(order).select(columns)

            yield self.collect(of_part, [search])

    def _scan(self, searches: Collection[str] | None) -> pl.LazyFrame:
        searches = self._files if searches is None else searches
        files = [file for search in searches for file in self._files.get(search, ())]
        # Before polars decodes them, which may misread flipped bits.
        new = [file for file in files if file not in self._whole]
        open_rows(new, self._store)
        self._whole.update(new)
        return scan(files, self._store.schema)

    def _files_after(self, error: Exception) -> dict[str, list[Place]]:
        """The files to read instead, if some were gathered meanwhile; else raises the cause."""
        files, fresh = [*chain.from_iterable(self._files.values())], take_inventory(self._paths)
        if not set(files) <= {*chain.from_iterable(fresh.values())}:
            return fresh
        if isinstance(error, CorruptFileError):
            raise error
        for file in files:
            # All columns can be decoded.
            open_rows([file], self._store, self._store.schema.names)
        if isinstance(error, OSError):
            raise StoreError(f"cannot read {self._paths.folder}: {error}") from error
        raise error  # every file is whole, so the query was wrong


def _check_names(rows: pl.DataFrame, paths: StudyPaths) -> None:
    """Refuse ids that could lead out of the folder, and names with control characters."""
    for name, kind in rows.schema.items():
        is_name = kind == pl.String and (name in _NAMES or name.startswith("hp."))
        for value in rows[name].unique().drop_nulls() if is_name else ():
            if has_control_characters(value) or (name in _FILE_NAMES and not is_file_name(value)):
                raise CorruptFileError(
                    f"{paths.folder} holds a trial whose {name} is {value!r}, which is not a"
                    " valid name"
                )
