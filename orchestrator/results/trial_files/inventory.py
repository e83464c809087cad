"""Which files hold the trials of a study, each trial once.

A trial is committed as ``trials/search=<search>/<trial_id>.parquet``, a file of one row. The rows
of a search that is over are gathered beside these, in ``<count>-<hash>.gathered.parquet``: a file
that is created whole, and never changes. The files of single rows stay until the run ends, so
programs that know nothing of this count each ``trial_id`` once and read everything, at any moment.

A gathered row counts before a file of its own. Of gathered files of one search that hold the same
trials, as while one replaces another, the one with the most trials counts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from podium.errors import CorruptFileError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import list_files
from podium.orchestrator.results.storage.local_copies import local_copies, local_copy
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.trial_files.parquet_file import ParquetFile, collect

_ids: dict[Place, frozenset[str]] = {}  # gathered file -> its trials, which never change


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """The files that together hold each committed trial exactly once, at one moment.

    Attributes:
        listed: all files of rows.
        gathered: files with the rows of many trials of one search.
        loose: trial id -> file of its row alone, for trials that no gathered file holds.
    """

    listed: Sequence[Place]
    gathered: Sequence[Place]
    loose: Mapping[str, Place]

    @cached_property
    def files(self) -> Sequence[Place]:
        """All files to read."""
        return [*self.gathered, *self.loose.values()]

    @cached_property
    def of_searches(self) -> Mapping[str, Sequence[Place]]:
        """Id of a search -> its files to read."""
        found: dict[str, list[Place]] = {}
        for file in self.files:
            found.setdefault(StudyPaths.search_of(file), []).append(file)
        return found

    @property
    def num_trials(self) -> int:
        """Number of trials, by the names of files."""
        return len(self.loose) + sum(map(StudyPaths.num_gathered, self.gathered))


def trials_in(files: Iterable[Place]) -> dict[Place, frozenset[str]]:
    """Gathered file -> ids of its trials.

    Raises:
        CorruptFileError: a file is missing or damaged.
        StoreError: one cannot be read.
    """
    wanted = list(files)
    new = [file for file in wanted if file not in _ids]
    local_copies(new)  # several at once
    for file in new:
        ParquetFile(file)  # whose bytes are verified
        try:
            rows = pl.scan_parquet(local_copy(file), hive_partitioning=False, glob=False)
            ids = collect(rows.select(pl.col("trial_id").cast(pl.String)), file)
            _ids[file] = frozenset(ids["trial_id"])
        except (OSError, pl.exceptions.PolarsError) as error:
            raise CorruptFileError(f"{file} lacks the column 'trial_id': {error}") from error
    return {file: _ids[file] for file in wanted}


def is_gathered(paths: StudyPaths, search: str, trial_id: str) -> bool:
    """Whether a gathered file holds a trial of a search; its folder is listed.

    Raises:
        CorruptFileError: such a file is damaged.
    """
    folder = paths.trial_folder(search)
    files = list_files(folder, ".gathered.parquet")
    return any(trial_id in trials for trials in trials_in(files).values())


def take_inventory(paths: StudyPaths, search: str | None = None) -> Inventory:
    """The files to read now.

    Args:
        paths: paths of the results folder.
        search: id of the search that is meant; None for all.

    Raises:
        CorruptFileError: a trial lies in two searches, or a gathered file is damaged.
    """
    files = _listed(paths, search)
    # A listing of many files takes a while, in which one gathered file may replace another.
    while _gathered(again := _listed(paths, search)) != _gathered(files):
        files = again
    return inventory_of(again)


def inventory_of(files: Sequence[Place]) -> Inventory:
    """As `take_inventory`, of who has listed the Parquet files of all trials.

    Raises:
        CorruptFileError: a trial lies in two searches, or a gathered file is damaged.
    """
    loose: dict[str, Place] = {}
    gathered: dict[str, list[Place]] = {}
    for file in files:
        if StudyPaths.num_gathered(file):
            gathered.setdefault(StudyPaths.search_of(file), []).append(file)
        elif loose.setdefault(file.stem, file) != file:
            raise CorruptFileError(
                f"{file} is a second file of one trial; the other is {loose[file.stem]}"
            )
    in_force = [file for of_search in gathered.values() for file in _in_force(of_search)]
    searches = {StudyPaths.search_of(file) for file in loose.values()}
    beside = [file for file in in_force if StudyPaths.search_of(file) in searches]
    held = frozenset[str]().union(*trials_in(beside).values())
    return Inventory(
        listed=files,
        gathered=in_force,
        loose={trial_id: file for trial_id, file in loose.items() if trial_id not in held},
    )


def _listed(paths: StudyPaths, search: str | None) -> list[Place]:
    if search is None:
        return list_files(paths.trials, ".parquet", in_subfolders=True)
    return list_files(paths.trial_folder(search), ".parquet")


def _gathered(files: Iterable[Place]) -> list[Place]:
    return [file for file in files if StudyPaths.num_gathered(file)]


def _in_force(files: Sequence[Place]) -> Iterator[Place]:
    """The gathered files of one search, without those whose trials a larger one holds too."""
    if len(files) == 1:
        yield files[0]
        return
    known = trials_in(files)
    taken: set[str] = set()
    for file in sorted(files, key=lambda it: (-len(known[it]), it.name)):
        if not known[file] <= taken:
            taken |= known[file]
            yield file
