"""Which files hold the trials of a study, each trial once.

A trial is committed as ``trials/search=<search>/<trial_id>.parquet``, a file of one row. The rows
of a search that is over are gathered beside these, in ``<count>-<hash>.gathered.parquet``: a file
that is created whole, and never changes. The files of single rows stay until the run ends, so
programs that know nothing of this count each ``trial_id`` once and read everything, at any moment.

A gathered row counts before a file of its own. Of gathered files of one search that hold the same
trials, as while one replaces another, the one with the most trials counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import polars as pl

from podium.errors import CorruptFileError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import list_files
from podium.orchestrator.results.storage.local_copies import local_copies, local_copy
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.trial_files.parquet_file import ParquetFile, collect


def trial_files(paths: StudyPaths, search: str | None = None) -> list[Place]:
    """All Parquet files of trials, or those of one search, sorted."""
    if search is None:
        return list_files(paths.trials, ".parquet", in_subfolders=True)
    return list_files(paths.trial_folder(search), ".parquet")


def gathered(files: Iterable[Place]) -> list[Place]:
    """Those that hold the rows of many trials of one search."""
    return [file for file in files if StudyPaths.num_gathered(file)]


def num_trials(files: Iterable[Place]) -> int:
    """Number of trials, by the names of files."""
    return sum(StudyPaths.num_gathered(file) or 1 for file in files)


def trials_in(files: Sequence[Place]) -> dict[Place, frozenset[str]]:
    """Gathered file -> ids of its trials.

    Raises:
        CorruptFileError: a file is missing or damaged.
        StoreError: one cannot be read.
    """
    local_copies(files)  # several at once
    return {file: _trials_in(file) for file in files}


@cache  # such a file never changes
def _trials_in(file: Place) -> frozenset[str]:
    ParquetFile(file)  # whose bytes are verified
    try:
        rows = pl.scan_parquet(local_copy(file), hive_partitioning=False, glob=False)
        ids = collect(rows.select(pl.col("trial_id").cast(pl.String)), file)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise CorruptFileError(f"{file} lacks the column 'trial_id': {error}") from error
    return frozenset(ids["trial_id"])


def take_inventory(paths: StudyPaths, search: str | None = None) -> dict[str, list[Place]]:
    """`needed_files` of all searches, or of one, at this moment; raises as that."""
    files = trial_files(paths, search)
    # A listing of many files takes a while, in which one gathered file may replace another.
    while gathered(again := trial_files(paths, search)) != gathered(files):
        files = again
    return needed_files(again)


def needed_files(files: Sequence[Place]) -> dict[str, list[Place]]:
    """Search -> the files among these that together hold each of its trials exactly once.

    Raises:
        CorruptFileError: a trial lies in two searches, or a gathered file is damaged.
    """
    found: dict[str, list[Place]] = {}
    loose: dict[str, Place] = {}
    for file in files:
        found.setdefault(StudyPaths.search_of(file), []).append(file)
        if not StudyPaths.num_gathered(file) and loose.setdefault(file.stem, file) != file:
            raise CorruptFileError(
                f"{file} is a second file of one trial; the other is {loose[file.stem]}"
            )
    return {search: _needed(of_search) for search, of_search in found.items()}


def _needed(files: Sequence[Place]) -> list[Place]:
    needed = gathered(files)
    if len(files) == 1 or not needed:
        return [*files]
    trials: Mapping[Place, frozenset[str]] = trials_in(needed)
    held: set[str] = set()
    for file in sorted(trials, key=lambda it: (-len(trials[it]), it.name)):
        if trials[file] <= held:
            needed.remove(file)
        held |= trials[file]
    loose = (file for file in files if not StudyPaths.num_gathered(file))
    return [*needed, *(file for file in loose if file.stem not in held)]
