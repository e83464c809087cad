"""The committed trials of a results folder, read again only where files changed."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import polars as pl

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import change_of_names, list_folders, stored_files
from orchestrator.results.storage.locations import Place, RemotePath, StoredFile
from orchestrator.results.trial_files.compaction_manifest import (
    Inventory,
    Manifest,
    read_manifest_with_listings,
)
from orchestrator.results.trial_files.reader import Reader
from podium.errors import CorruptFileError

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

_SUFFIX = ".parquet"
_COMPACTED = StoredFile("", 0, datetime.min)  # of a trial that has no file of its own


class FollowedTrials:
    """The rows of all committed trials; `read` brings them up to date.

    A trial's file never changes but by being withdrawn and written again, so a file with the size
    and time of the one that was read is not opened again, nor is its folder listed again whose
    time is as it was. A file that is damaged is left out, and looked at again each time.

    Args:
        paths: results folder.
        reader: reader of the folder.

    Attributes:
        rows: one row a trial, in the order in which they were read.
        problem: what is wrong with a file that was left out; None if none was.
    """

    def __init__(self, paths: StudyPaths, reader: Reader) -> None:
        self._paths = paths
        self._reader = reader
        self._listing = _Listing(paths.trials)
        self._manifest_change: int | None = None
        self._manifest = Manifest()
        self._compacted: Mapping[str, StoredFile] = {}
        self._files: dict[str, StoredFile] = {}  # those that were read
        self._is_behind = True
        self.rows = pl.DataFrame(schema=COLUMNS)
        self.problem: str | None = None

    def __contains__(self, trial_id: str) -> bool:
        """Whether a trial is committed."""
        return trial_id in self._files

    def read(self) -> bool:
        """Read what is new, and drop what was withdrawn; whether anything changed.

        Raises:
            CorruptFileError: a segment, its listing or the manifest is damaged.
            StoreError: the folder cannot be read.
        """
        # Loose files first: they are deleted only once a manifest that has them is in force.
        is_listed_anew, is_other_manifest = self._listing.read(), self._read_manifest()
        self._is_behind |= is_listed_anew or is_other_manifest
        if not self._is_behind:
            return False
        found = {**self._compacted, **self._listing.files}
        outdated = {
            trial_id
            for trial_id, file in self._files.items()
            if found.get(trial_id) not in (file, _COMPACTED)
        }
        new = {trial_id for trial_id in found if trial_id not in self._files}
        new |= outdated & found.keys()
        self.problem = None
        added = self._read_rows(new) if new else []
        kept = self.rows
        if outdated:
            kept = kept.filter(~pl.col("trial_id").is_in(list(outdated)))
        self.rows = pl.concat([kept, *added], rechunk=True)
        for trial_id in outdated:
            del self._files[trial_id]
        for rows in added:
            self._files |= {trial_id: found[trial_id] for trial_id in rows["trial_id"]}
        self._is_behind = self.problem is not None
        return bool(outdated or added)

    def column_of(self, trial_ids: Sequence[str], column: str) -> dict[str, Any]:
        """Trial id -> the value of a column that is not kept, of committed trials.

        Raises:
            CorruptFileError: a file is damaged.
            StoreError: the folder cannot be read.
        """
        inventory = self._inventory(trial_ids)
        rows = self._reader.rows_of(trial_ids, ["trial_id", column], inventory)
        return dict(rows.iter_rows())

    def _read_rows(self, trial_ids: Collection[str]) -> list[pl.DataFrame]:
        """Their rows; a file of one trial that is damaged is left out."""
        try:
            inventory = self._inventory(trial_ids)
            return [self._reader.rows_of(trial_ids, list(COLUMNS), inventory)]
        except CorruptFileError as error:
            compacted = [it for it in trial_ids if it in self._manifest]
            loose = [it for it in trial_ids if it not in self._manifest]
            if not loose:
                raise
            if not compacted and len(loose) == 1:
                self.problem = str(error)
                return []
            middle = 0 if compacted else len(loose) // 2
            parts = [part for part in (compacted, loose[:middle], loose[middle:]) if part]
            return [rows for part in parts for rows in self._read_rows(part)]

    def _inventory(self, trial_ids: Collection[str]) -> Inventory:
        """The files of some trials as they were listed last."""
        manifest, files = self._manifest, self._listing.files
        return Inventory(
            manifest=manifest,
            loose={
                trial_id: self._paths.trials / files[trial_id].path
                for trial_id in trial_ids
                if trial_id in files and trial_id not in manifest
            },
        )

    def _read_manifest(self) -> bool:
        """Bring the manifest up to date; whether it is another."""
        change = change_of_names(self._paths.compacted)
        if change is not None and change == self._manifest_change:
            return False
        before, self._manifest = self._manifest, read_manifest_with_listings(self._paths)
        self._manifest_change = change
        if self._manifest == before:
            return False
        trials = chain.from_iterable(segment.trials for segment in self._manifest.segments)
        self._compacted = dict.fromkeys(trials, _COMPACTED)
        return True


class _Listing:
    """The files of trials; folders that did not change are not listed again.

    Attributes:
        files: trial id -> its file, the path relative to the folder of trials.
    """

    def __init__(self, trials: Place) -> None:
        self._trials = trials
        self._change: int | None = None
        self._folders: Mapping[Place, _Folder] = {}
        self.files: Mapping[str, StoredFile] = {}

    def read(self) -> bool:
        """List what changed; whether anything did."""
        if isinstance(self._trials, RemotePath):
            before, self.files = self.files, dict(_trial_files("", stored_files(self._trials)))
            return self.files != before
        folders = self._folders
        change = change_of_names(self._trials)
        if change is None or change != self._change:
            self._folders = {
                place: folders.get(place) or _Folder(place) for place in list_folders(self._trials)
            }
            self._change = change
        has_changed = [
            folder.read() for folder in self._folders.values()
        ]  # each lists what is new
        if not any(has_changed) and folders.keys() == self._folders.keys():
            return False
        self.files = dict(chain.from_iterable(it.files.items() for it in self._folders.values()))
        return True


class _Folder:
    def __init__(self, place: Place) -> None:
        self._place = place
        self._change: int | None = None
        self.files: Mapping[str, StoredFile] = {}

    def read(self) -> bool:
        """List the folder if it may have changed; whether it did."""
        change = change_of_names(self._place)
        if change is not None and change == self._change:
            return False
        self._change = change
        listed = stored_files(self._place)
        before, self.files = self.files, dict(_trial_files(f"{self._place.name}/", listed))
        return self.files != before


def _trial_files(above: str, files: Iterable[StoredFile]) -> Iterator[tuple[str, StoredFile]]:
    """Trial id and file, of the files that are trials; ``above`` goes before their paths."""
    for file in files:
        name = file.path.rpartition("/")[2]
        if name.endswith(_SUFFIX) and not name.startswith("."):
            yield name.removesuffix(_SUFFIX), file._replace(path=above + file.path)
