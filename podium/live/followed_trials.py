"""The committed trials of a results folder, read again only where files changed."""

from collections.abc import Iterator, Mapping
from datetime import datetime

import polars as pl

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import change_of_names, list_folders, stored_files
from orchestrator.results.storage.locations import Place, RemotePath, StoredFile
from orchestrator.results.trial_files.compaction_manifest import read_manifest
from orchestrator.results.trial_files.reader import Reader

COLUMNS = pl.Schema(
    {
        "trial_id": pl.String(),
        "search": pl.String(),
        "stage": pl.String(),
        "state": pl.String(),
        "cause": pl.String(),
        "message": pl.String(),
        "objective": pl.Float64(),
        "seconds": pl.Float64(),
        "same_as": pl.String(),
        "ended_at": pl.Datetime("us", "UTC"),
    }
)
"""The columns of trials that are followed."""

_COMPACTED = (0, datetime.min)  # the version of a trial that has no file of its own


class FollowedTrials:
    """The rows of all committed trials; `read` brings them up to date.

    A trial's file never changes but by being withdrawn and written again, so a file with the size
    and time of the one that was read is not opened again, nor is its folder listed again whose
    time is as it was.

    Args:
        paths: results folder.
        reader: reader of the folder.

    Attributes:
        rows: one row a trial, in the order in which they were read.
    """

    def __init__(self, paths: StudyPaths, reader: Reader) -> None:
        self._paths = paths
        self._reader = reader
        self._listing = _Listing(paths)
        self._manifest_change: int | None = None
        self._compacted: frozenset[str] = frozenset()
        self._versions: dict[str, tuple[int, datetime]] = {}
        self.rows = pl.DataFrame(schema=COLUMNS)

    def read(self) -> bool:
        """Read what is new, and drop what was withdrawn; whether anything changed.

        Raises:
            CorruptFileError: a file is damaged.
            StoreError: the folder cannot be read.
        """
        loose = self._listing.read()
        found = dict.fromkeys(self._read_manifest(), _COMPACTED) | loose
        outdated = {
            trial_id
            for trial_id, version in self._versions.items()
            if found.get(trial_id) not in (version, _COMPACTED)
        }
        new = {trial_id for trial_id in found if trial_id not in self._versions}
        new |= outdated & found.keys()
        if not new and not outdated:
            return False
        added = self._reader.rows_of(new, list(COLUMNS)) if new else self.rows.clear()
        kept = self.rows.filter(~pl.col("trial_id").is_in(list(outdated)))
        self.rows = pl.concat([kept, added])
        for trial_id in outdated:
            del self._versions[trial_id]
        self._versions |= {trial_id: found[trial_id] for trial_id in added["trial_id"]}
        return True

    def _read_manifest(self) -> frozenset[str]:
        change = change_of_names(self._paths.compacted)
        if change is None or change != self._manifest_change:
            self._compacted = frozenset(read_manifest(self._paths).trials)
            self._manifest_change = change
        return self._compacted


class _Listing:
    """The trial files: id -> size and time; folders that did not change are not listed again."""

    def __init__(self, paths: StudyPaths) -> None:
        self._trials = paths.trials
        self._change: int | None = None
        self._folders: Mapping[Place, _Folder] = {}

    def read(self) -> dict[str, tuple[int, datetime]]:
        if isinstance(self._trials, RemotePath):
            return dict(_versions(stored_files(self._trials)))
        change = change_of_names(self._trials)
        if change is None or change != self._change:
            before = self._folders
            self._folders = {
                place: before.get(place) or _Folder(place) for place in list_folders(self._trials)
            }
            self._change = change
        return {
            trial_id: version
            for folder in self._folders.values()
            for trial_id, version in folder.read().items()
        }


class _Folder:
    def __init__(self, place: Place) -> None:
        self._place = place
        self._change: int | None = None
        self._files: dict[str, tuple[int, datetime]] = {}

    def read(self) -> Mapping[str, tuple[int, datetime]]:
        change = change_of_names(self._place)
        if change is None or change != self._change:
            self._files = dict(_versions(stored_files(self._place)))
            self._change = change
        return self._files


def _versions(files: list[StoredFile]) -> Iterator[tuple[str, tuple[int, datetime]]]:
    for file in files:
        name = file.path.rpartition("/")[2]
        if name.endswith(".parquet") and not name.startswith("."):
            yield name.removesuffix(".parquet"), (file.num_bytes, file.changed_at)
