"""Queries on the trial files of a results folder, which may be gathered meanwhile."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl
import pyarrow as pa

from orchestrator.results.records.store_paths import StudyPaths, is_file_name
from orchestrator.results.records.trial_schema import IDENTITY_COLUMNS
from orchestrator.results.storage.local_copies import local_copies
from orchestrator.results.storage.locations import Place
from orchestrator.results.storage.printable_text import has_control_characters
from orchestrator.results.storage.transient_errors import is_transient, with_retries
from orchestrator.results.trial_files.integrity import IDENTITY, check_file
from orchestrator.results.trial_files.inventory import Inventory, take_inventory, trials_in
from orchestrator.results.trial_files.parquet_file import check_bytes, check_footer
from podium.errors import CorruptFileError, StoreError, UnreachableError

# Columns whose values name files, or are put into sentences, tables and figures.
_FILE_NAMES = ("trial_id", "search")
_NAMES = {name for name, kind in IDENTITY_COLUMNS if kind == pa.string()}

# Polars gives the number of an error of the system in its message only.
_NUMBER = re.compile(r"\(os error (\d+)\)")

# Rows with nested details that are in memory together: so many, or as many more as take little,
# since each part looks through all row groups; but never more than take so much.
_BATCH_ROWS = 500
_SMALL_BYTES = 2**25
_BATCH_BYTES = 2**31

_FILE = "__file"

_KEY = ("search", "stage", "state")
COUNTS_SCHEMA = pl.Schema(
    {
        **dict.fromkeys(_KEY, pl.String()),
        **dict.fromkeys(("trials", "trained"), pl.Int64()),
        "last_index": pl.Int64(),
    }
)
"""Columns of counts: ``trained`` are the trials that are no copies, ``last_index`` the largest."""


def polars_schema(schema: pa.Schema) -> dict[str, pl.DataType]:
    """Columns of trial files as polars has them."""
    return dict(pl.Schema(schema))  # not by an empty table: arrow loads pandas to make one


class StoredRows:
    """Every trial of a results folder as of now, exactly once, one row each.

    Args:
        paths: paths of the folder.
        study_name: name of the study that its files must belong to.
        schema: schema of its trial files.
        whole: files that were checked -> what their footers say; others are added once they are
            checked: their checksum, their size, and that they hold the rows that their path
            says.
        inventory: the files of the folder, of who has just listed them; else they are listed.
    """

    def __init__(
        self,
        paths: StudyPaths,
        study_name: str,
        schema: pa.Schema,
        whole: dict[Place, int],
        inventory: Inventory | None = None,
    ) -> None:
        self._paths = paths
        self._whole = whole
        self._study_name = study_name
        self._arrow_schema = schema
        self._schema = polars_schema(schema)
        self._inventory = inventory or take_inventory(paths)

    def collect(
        self,
        query: Callable[[pl.LazyFrame], pl.LazyFrame],
        trial_ids: Collection[str] | None = None,
        *,
        in_parts: bool = False,
    ) -> pl.DataFrame:
        """The result of a query on all rows, or on those of some trials.

        Args:
            query: what to make of the rows.
            trial_ids: ids of the trials whose rows are asked for; None means all.
            in_parts: whether files are read a few row groups at a time, each once, so that memory
                holds little more than the result; rows come in no order then.

        Raises:
            CorruptFileError: a file is truncated, foreign or damaged, or holds names that podium
                never writes.
            StoreError: the folder cannot be read.
        """
        return self._found(lambda: self._rows(query(self._scan(trial_ids)), in_parts=in_parts))

    def counts(self) -> pl.DataFrame:
        """Numbers of trials by search, stage and state, sorted, as `COUNTS_SCHEMA` has them.

        Raises:
            CorruptFileError: as `collect`.
            StoreError: the folder cannot be read.
        """
        counts = self._found(lambda: self._rows(_counted(self._scan(None)), in_parts=True))
        return counts.select(pl.col(name).cast(kind) for name, kind in COUNTS_SCHEMA.items()).sort(
            _KEY
        )

    def _found(self, look: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """What is found in the files of now; looked at again if some were gathered meanwhile."""
        while True:
            try:
                found = look()
            except (OSError, CorruptFileError, pl.exceptions.PolarsError) as error:
                self._inventory = self._inventory_after(error)
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
        """The result of a query that filters rows, in order, a part of the rows at a time.

        Each trial comes once, also if files are gathered between two parts.

        Args:
            query: filter of rows; all columns are there before and after it.
            columns: columns of the result; of others only what the query needs is read.
            order: columns to sort by, ``trial_id`` among them.
        """
        keys = self.collect(lambda rows: query(rows).select(order))
        trial_ids = keys.sort(order)["trial_id"].to_list()
        for part in self._parts(trial_ids):
            yield self.collect(partial(_selected, query, order, columns), part)

    def _parts(self, trial_ids: Sequence[str]) -> Iterator[list[str]]:
        """The trials in order, as many at a time as memory should hold; at least one part."""
        part: list[str] = []
        taken = 0
        sizes = self._row_bytes()
        for trial_id in trial_ids:
            size = sizes[trial_id]
            most = _BATCH_BYTES if len(part) < _BATCH_ROWS else _SMALL_BYTES
            if part and taken + size > most:
                yield part
                part, taken = [], 0
            part.append(trial_id)
            taken += size
        yield part

    def _scan(self, trial_ids: Collection[str] | None) -> pl.LazyFrame:
        files = self._files(trial_ids)
        if not files:
            return pl.LazyFrame(schema=self._schema)
        rows = self._rows_of(files)
        return rows if trial_ids is None else rows.filter(pl.col("trial_id").is_in(trial_ids))

    def _row_bytes(self) -> dict[str, int]:
        """Trial id -> bytes of memory of its row, on average over its file; a guess if unknown."""
        guess = _SMALL_BYTES // _BATCH_ROWS
        sizes = {it: self._whole.get(file, guess) for it, file in self._inventory.loose.items()}
        for file, trials in trials_in(self._inventory.gathered).items():
            size = self._whole[file] // len(trials) if file in self._whole else guess
            sizes |= dict.fromkeys(trials, size)
        return sizes

    def _files(self, trial_ids: Collection[str] | None) -> list[Path]:
        """Local files of the trials; remote ones are fetched once."""
        inventory = self._inventory
        return self._checked(
            inventory.files if trial_ids is None else inventory.files_of(trial_ids)
        )

    def _checked(self, files: Sequence[Place]) -> list[Path]:
        """Local copies, after those that are new were checked."""
        copies = dict(zip(files, local_copies(files), strict=True))
        new = {file: copy for file, copy in copies.items() if file not in self._whole}
        footers = {file: self._checked_footer(file) for file in new}
        if new:
            self._check_identities(new)
        self._whole |= footers
        return list(copies.values())

    def _checked_footer(self, file: Place) -> int:
        """What the footer of a file says, before polars decodes anything of the file."""
        check_bytes(file)  # polars may misread flipped bits
        return check_footer(file, self._arrow_schema)

    def _check_identities(self, copies: Mapping[Place, Path]) -> None:
        """Refuse files that hold other rows than their path says.

        Args:
            copies: files of the inventory, each with its copy on this machine.

        Raises:
            CorruptFileError: one does; it is named.
        """
        expected = pl.DataFrame(
            [
                (str(copy), StudyPaths.search_of(file), count or 1, None if count else file.stem)
                for file, copy in copies.items()
                for count in [StudyPaths.num_gathered(file)]
            ],
            schema={_FILE: pl.String, "search": pl.String, "rows": pl.UInt32, "own": pl.String},
            orient="row",
        )
        rows = self._rows_of([*copies.values()], include_file_paths=_FILE).select(_FILE, *IDENTITY)
        found = self._rows(
            rows.group_by(_FILE).agg(
                pl.len(),
                pl.col("trial_id").n_unique().alias("distinct"),
                pl.col("trial_id").first(),
                (pl.col("study") == self._study_name).all(ignore_nulls=False).alias("of_study"),
                pl.col("search").unique().alias("searches"),
            )
        )
        is_right = (
            pl.col("of_study")
            & (pl.col("searches").list.len() == 1)
            & (pl.col("searches").list.first() == pl.col("search"))
            & (pl.col("len") == pl.col("rows"))
            & (pl.col("distinct") == pl.col("rows"))
            & (pl.col("own").is_null() | (pl.col("own") == pl.col("trial_id")))
        )
        odd = expected.join(found, on=_FILE, how="left").filter(~is_right.fill_null(value=False))
        odd_files = set(odd[_FILE])
        for file, copy in copies.items():
            if str(copy) in odd_files:
                check_file(file, self._study_name, self._arrow_schema)
                raise CorruptFileError(f"{file} was changed while it was read")

    def _rows(self, rows: pl.LazyFrame, *, in_parts: bool = False) -> pl.DataFrame:
        return with_retries(partial(_collected, rows, self._paths, in_parts=in_parts))

    def _rows_of(
        self, files: list[Path], *, include_file_paths: str | None = None
    ) -> pl.LazyFrame:
        return pl.scan_parquet(
            files,
            schema=self._schema,
            missing_columns="insert",
            hive_partitioning=False,
            glob=False,
            include_file_paths=include_file_paths,
        )

    def _inventory_after(self, error: Exception) -> Inventory:
        """The files to read instead, if some were gathered meanwhile; else raises the cause."""
        fresh = take_inventory(self._paths)
        if not set(self._inventory.files) <= set(fresh.files):
            return fresh
        if isinstance(error, CorruptFileError):
            raise error
        for path in self._inventory.files:
            check_file(path, self._study_name, self._arrow_schema)
        if isinstance(error, OSError):
            raise StoreError(f"cannot read {self._paths.folder}: {error}") from error
        raise error  # every file is whole, so the query was wrong


def _counted(rows: pl.LazyFrame) -> pl.LazyFrame:
    return rows.group_by(_KEY).agg(
        pl.len().alias("trials"),
        pl.col("same_as").is_null().sum().alias("trained"),
        pl.col("index").max().alias("last_index"),
    )


def _selected(
    query: Callable[[pl.LazyFrame], pl.LazyFrame],
    order: Sequence[str],
    columns: Sequence[str],
    rows: pl.LazyFrame,
) -> pl.LazyFrame:
    return query(rows).sort(order).select(columns)


def _collected(rows: pl.LazyFrame, paths: StudyPaths, *, in_parts: bool = False) -> pl.DataFrame:
    """The rows; a transient error is raised as UnreachableError."""
    try:
        return rows.collect(engine="streaming" if in_parts else "auto")
    except OSError as error:
        number = _NUMBER.search(str(error))
        if number is None or not is_transient(OSError(int(number[1]), "")):
            raise
        raise UnreachableError(f"cannot read {paths.folder}: {error}") from error


def _check_names(rows: pl.DataFrame, paths: StudyPaths) -> None:
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
