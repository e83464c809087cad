"""Queries on the trial files of a results folder, which may be compacted meanwhile."""

import re
import secrets
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
from orchestrator.results.trial_files.compaction_manifest import (
    Inventory,
    Segment,
    take_inventory,
)
from orchestrator.results.trial_files.integrity import (
    IDENTITY,
    check_file,
    check_segments_disjoint,
)
from orchestrator.results.trial_files.parquet_file import check_footer, has_checksum
from orchestrator.results.trial_files.segment_counts import added_up, counted, read_counts
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
            checked: their checksum, their size, and that they hold the rows that their path or
            listing says.
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
        """Numbers of trials, as in `segment_counts`; of segments that have them no row is read.

        Raises:
            CorruptFileError: as `collect`, of the files that are read.
            StoreError: the folder cannot be read.
        """
        return self._found(lambda: added_up(self._counts()))

    def _counts(self) -> Iterator[pl.DataFrame]:
        yield from map(read_counts, self._inventory.manifest.segments)
        if files := self._checked(list(self._inventory.loose.values())):
            yield self._rows(counted(self._rows_of(files)), in_parts=True)

    def _found(self, look: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """What is found in the files of now; looked at again if some were compacted meanwhile."""
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

        Each trial comes once, also if files are compacted between two parts.

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
        compacted_size = self._compacted_row_bytes()
        for trial_id in trial_ids:
            file = self._inventory.loose.get(trial_id)
            size = compacted_size if file is None else self._whole.get(file, compacted_size)
            most = _BATCH_BYTES if len(part) < _BATCH_ROWS else _SMALL_BYTES
            if part and taken + size > most:
                yield part
                part, taken = [], 0
            part.append(trial_id)
            taken += size
        yield part

    def _compacted_row_bytes(self) -> int:
        """Average bytes of memory of a row in a segment; a guess where no segment was checked."""
        checked = [it for it in self._inventory.manifest.segments if it.path in self._whole]
        if not checked:
            return _SMALL_BYTES // _BATCH_ROWS
        num_bytes = sum(self._whole[segment.path] for segment in checked)
        return num_bytes // sum(segment.num_trials for segment in checked)

    def _scan(self, trial_ids: Collection[str] | None) -> pl.LazyFrame:
        files = self._files(trial_ids)
        if not files:
            return pl.LazyFrame(schema=self._schema)
        rows = self._rows_of(files)
        return rows if trial_ids is None else rows.filter(pl.col("trial_id").is_in(trial_ids))

    def _files(self, trial_ids: Collection[str] | None) -> list[Path]:
        """Local files of the trials; remote ones are fetched once."""
        if trial_ids is None:
            return self._checked(self._inventory.files)
        segments = [
            segment.path
            for segment in self._inventory.manifest.segments
            if any(trial_id in segment.trials for trial_id in trial_ids)
        ]
        loose = self._inventory.loose
        own = [loose[trial_id] for trial_id in trial_ids if trial_id in loose]
        return self._checked([*segments, *own])

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
        has_checksum(file)  # raises if it does not match: polars may misread flipped bits
        return check_footer(file, self._arrow_schema)

    def _check_identities(self, copies: Mapping[Place, Path]) -> None:
        """Refuse files that hold other rows than their path or listing says.

        Args:
            copies: files of the inventory, each with its copy on this machine.

        Raises:
            CorruptFileError: one does; it is named.
        """
        segments = self._inventory.segments
        odd = next(self._odd_files(copies), None)
        if odd is not None:
            check_file(odd, self._study_name, self._arrow_schema, segments.get(odd))
            raise CorruptFileError(f"{odd} was changed while it was read")
        if segments.keys() & copies.keys():
            check_segments_disjoint(self._inventory.manifest)

    def _odd_files(self, copies: Mapping[Place, Path]) -> Iterator[Place]:
        """Files that hold other rows than their path or listing says, trial files first."""
        segments = self._inventory.segments
        loose = {file: copy for file, copy in copies.items() if file not in segments}
        if loose:
            yield from self._odd_loose(loose)
        for file, copy in copies.items():
            if file in segments and not self._is_as_listed(segments[file], copy):
                yield file

    def _is_as_listed(self, segment: Segment, copy: Path) -> bool:
        rows = self._rows(self._rows_of([copy]).select(IDENTITY))
        is_of_study = (rows["study"] == self._study_name).all(ignore_nulls=False)
        return bool(is_of_study) and _are_alike(rows.drop("study"), segment.trials.frame())

    def _odd_loose(self, copies: Mapping[Place, Path]) -> Iterator[Place]:
        """Trial files that do not hold the one row that their path says."""
        expected = pl.DataFrame(
            {
                _FILE: list(map(str, copies.values())),
                "study": self._study_name,
                "search": list(map(StudyPaths.search_of, copies)),
                "trial_id": [file.stem for file in copies],
            },
            schema=dict.fromkeys((_FILE, *IDENTITY), pl.String),
        )
        found = self._rows_of([*copies.values()], include_file_paths=_FILE)
        rows = self._rows(found.select(_FILE, *IDENTITY))
        if _are_alike(rows, expected):
            return
        odd_files = {
            *rows.join(expected, on=rows.columns, how="anti")[_FILE],
            *expected.join(rows, on=rows.columns, how="anti")[_FILE],
            *rows.filter(rows.is_duplicated())[_FILE],
        }
        yield from (file for file, copy in copies.items() if str(copy) in odd_files)

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
        """The files to read instead, if some were compacted meanwhile; else raises the cause."""
        fresh = take_inventory(self._paths)
        if fresh.manifest != self._inventory.manifest:
            return fresh
        if isinstance(error, CorruptFileError):
            raise error
        segments = self._inventory.segments
        for path in self._inventory.files:
            check_file(path, self._study_name, self._arrow_schema, segments.get(path))
        if isinstance(error, OSError):
            raise StoreError(f"cannot read {self._paths.folder}: {error}") from error
        raise error  # every file is whole, so the query was wrong


def _are_alike(first: pl.DataFrame, second: pl.DataFrame) -> bool:
    """Whether two frames have the same rows, in any order, by sums of hashes of a random seed.

    Joins of a million rows would take seconds.
    """
    seed = secrets.randbits(64)
    sums = [rows.hash_rows(seed).sum() for rows in (first, second)]
    return len(first) == len(second) and sums[0] == sums[1]


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
