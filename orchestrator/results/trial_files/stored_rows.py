"""Queries on the trial files of a results folder, which may be gathered meanwhile."""

from collections.abc import Callable, Collection, Iterator, Sequence

import polars as pl
import pyarrow as pa

from orchestrator.results.records.store_paths import StudyPaths, is_file_name
from orchestrator.results.records.study_snapshot import Store
from orchestrator.results.records.trial_schema import IDENTITY_COLUMNS
from orchestrator.results.storage.locations import Place
from orchestrator.results.storage.printable_text import has_control_characters
from orchestrator.results.trial_files.integrity import open_rows
from orchestrator.results.trial_files.inventory import Inventory, take_inventory
from orchestrator.results.trial_files.parquet_file import collect, scan
from podium.errors import CorruptFileError, StoreError

# Columns whose values name files, or are put into sentences, tables and figures.
_FILE_NAMES = ("trial_id", "search")
_NAMES = {name for name, kind in IDENTITY_COLUMNS if kind == pa.string()}

# Rows with nested details that are in memory together: so many, or as many more as take little,
# since each part looks through all row groups; but never more than take so much.
_BATCH_ROWS = 500
_SMALL_BYTES = 2**25
_BATCH_BYTES = 2**31


class StoredRows:
    """Every trial of a results folder as of now, exactly once, one row each.

    Args:
        paths: paths of the folder.
        store: whose files they must be.
        whole: bytes of memory of a row, by the files that were checked; others are added once
            `open_rows` found nothing wrong with them.
    """

    def __init__(self, paths: StudyPaths, store: Store, whole: dict[Place, int]) -> None:
        self._paths = paths
        self._store = store
        self._whole = whole
        self._inventory = take_inventory(paths)

    def collect(
        self,
        query: Callable[[pl.LazyFrame], pl.LazyFrame],
        trial_ids: Collection[str] | None = None,
        *,
        in_parts: bool = False,
    ) -> pl.DataFrame:
        """The result of a query on all rows, or on those of some trials.

        Args:
            query: what to make of the rows. It is run again where files were gathered meanwhile.
            trial_ids: ids of the trials whose rows are asked for; None means all.
            in_parts: whether files are read a few row groups at a time, each once, so that memory
                holds little more than the result; rows come in no order then.

        Raises:
            CorruptFileError: a file is truncated, foreign or damaged, or holds names that podium
                never writes.
            StoreError: the folder cannot be read.
        """
        while True:
            try:
                rows = query(self._scan(trial_ids))
                found = collect(rows, self._paths.folder, in_parts=in_parts)
            except (OSError, CorruptFileError, pl.exceptions.PolarsError) as error:
                self._inventory = self._inventory_after(error)
                continue
            check_names(found, self._paths)
            return found

    def batches(
        self,
        query: Callable[[pl.LazyFrame], pl.LazyFrame],
        *,
        columns: Sequence[str],
        order: Sequence[str],
    ) -> Iterator[pl.DataFrame]:
        """The result of a query that filters rows, in order, a part of the rows at a time.

        Each trial comes once, also if files are gathered between two parts.

        Args:
            query: filter of rows; all columns are there before and after it.
            columns: columns of the result; of others only what the query needs is read.
            order: columns to sort by, ``trial_id`` among them.
        """
        keys = self.collect(lambda rows: query(rows).select(order)).sort(order)
        for part in self._parts(keys["trial_id"].to_list()):
            yield self.collect(lambda rows: query(rows).sort(order).select(columns), part)

    def _parts(self, trial_ids: Sequence[str]) -> Iterator[list[str]]:
        """The trials in order, as many at a time as memory should hold; at least one part."""
        part: list[str] = []
        taken = 0
        sizes = {it: self._whole[file] for it, file in self._inventory.file_of.items()}
        for trial_id in trial_ids:
            most = _BATCH_BYTES if len(part) < _BATCH_ROWS else _SMALL_BYTES
            if part and taken + sizes[trial_id] > most:
                yield part
                part, taken = [], 0
            part.append(trial_id)
            taken += sizes[trial_id]
        yield part

    def _scan(self, trial_ids: Collection[str] | None) -> pl.LazyFrame:
        inventory = self._inventory
        files = inventory.files if trial_ids is None else inventory.files_of(trial_ids)
        # Before polars decodes them, which may misread flipped bits.
        new, _ = open_rows([file for file in files if file not in self._whole], self._store)
        self._whole |= {file.path: file.decoded_bytes() // file.num_rows for file in new}
        rows = scan(files, self._store.schema)
        return rows if trial_ids is None else rows.filter(pl.col("trial_id").is_in(trial_ids))

    def _inventory_after(self, error: Exception) -> Inventory:
        """The files to read instead, if some were gathered meanwhile; else raises the cause."""
        fresh = take_inventory(self._paths)
        if not set(self._inventory.files) <= set(fresh.files):
            return fresh
        if isinstance(error, CorruptFileError):
            raise error
        for file in self._inventory.files:
            # All columns can be decoded.
            open_rows([file], self._store, self._store.schema.names)
        if isinstance(error, OSError):
            raise StoreError(f"cannot read {self._paths.folder}: {error}") from error
        raise error  # every file is whole, so the query was wrong


def check_names(rows: pl.DataFrame, paths: StudyPaths) -> None:
    """Refuse names that podium cannot have written: results may come from anywhere.

    Raises:
        CorruptFileError: an id could lead out of the folder, or a name holds control characters.
    """
    for name, kind in rows.schema.items():
        is_name = kind == pl.String and (name in _NAMES or name.startswith("hp."))
        for value in rows[name].unique().drop_nulls() if is_name else ():
            if has_control_characters(value) or (name in _FILE_NAMES and not is_file_name(value)):
                raise CorruptFileError(
                    f"{paths.folder} holds a trial whose {name} is {value!r}, which is not a"
                    " valid name"
                )
