"""The manifest: which compacted file counts, and which trials it holds.

A trial in the manifest is read from the compacted file, whatever else lies in the folder; every
other trial is read from the file of its own. Replacing the manifest is the one moment at which
a compaction happens.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.results.records.store_paths import StudyPaths, is_file_name
from orchestrator.results.storage.checksummed_text import read_checksummed, write_checksummed
from orchestrator.results.storage.files import list_below
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What the compacted file holds.

    Attributes:
        file: name of the compacted file; None if nothing was ever compacted.
        trials: trial id -> trial file that it replaces, relative to the results folder.
    """

    file: str | None = None
    trials: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """The files that together hold each committed trial exactly once, at one moment.

    Attributes:
        manifest: manifest in force.
        compacted: the compacted file, if there is one.
        loose: trial id -> trial file, for trials that are not in the manifest.
    """

    manifest: Manifest
    compacted: Place | None
    loose: Mapping[str, Place]

    @property
    def files(self) -> tuple[Place, ...]:
        """All files to read."""
        return (*([self.compacted] if self.compacted else []), *self.loose.values())


def read_manifest(paths: StudyPaths) -> Manifest:
    """The manifest in force.

    Raises:
        CorruptFileError: it is damaged.
    """
    values = read_checksummed(paths.manifest)
    if values is None:
        return Manifest()
    file, trials = values.get("file"), values.get("trials")
    if not isinstance(file, str) or not isinstance(trials, dict):
        raise CorruptFileError(f"{paths.manifest} is not a manifest: it must hold file and trials")
    for name in (file, *trials):
        if not is_file_name(name):
            raise CorruptFileError(f"{paths.manifest} names {name!r}, which is not a file name")
    for path in trials.values():
        if not isinstance(path, str):
            raise CorruptFileError(f"{paths.manifest} has {path!r} where it must name a file")
    return Manifest(file=file, trials=trials)


def searches_of(manifest: Manifest) -> dict[str, str]:
    """Trial id -> search whose folder the trial's own file lay in."""
    return {
        trial_id: StudyPaths.search_of(Path(path)) for trial_id, path in manifest.trials.items()
    }


def write_manifest(paths: StudyPaths, manifest: Manifest) -> None:
    """Put a manifest in force."""
    write_checksummed(paths.manifest, {"file": manifest.file, "trials": dict(manifest.trials)})


def loose_trials(paths: StudyPaths) -> dict[str, Place]:
    """Every trial file by trial id, whether or not a compacted file holds the trial too.

    Raises:
        CorruptFileError: a trial lies in two searches.
    """
    found: dict[str, Place] = {}
    for path in list_below(paths.trials, ".parquet"):
        trial_id = path.stem
        if trial_id in found:
            raise CorruptFileError(
                f"{path} is a second file of one trial; the other is {found[trial_id]}"
            )
        found[trial_id] = path
    return found


def take_inventory(paths: StudyPaths) -> Inventory:
    """The files to read now.

    Files are deleted only after the manifest that replaces them is in force; so a listing
    between two equal readings of the manifest misses nothing.
    """
    manifest = read_manifest(paths)
    while True:
        loose = {
            trial_id: path
            for trial_id, path in loose_trials(paths).items()
            if trial_id not in manifest.trials
        }
        again = read_manifest(paths)
        if again == manifest:
            break
        manifest = again
    compacted = paths.compacted / manifest.file if manifest.file else None
    return Inventory(manifest=manifest, compacted=compacted, loose=loose)
