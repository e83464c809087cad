"""The manifest: which segments count, and so which trials are read from them.

A segment is a Parquet file of many trials, with a listing of them beside it (`segment_trials`). A
trial in a segment of the manifest is read from there, whatever else lies in the folder; every
other trial is read from the file of its own. Replacing the manifest is the one moment at which a
compaction happens.

The manifest has a line for each segment, so it stays small however many trials there are. A
process remembers it, and asks the store each time whether it is still the one.
"""

import hashlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from orchestrator.results.records.store_paths import StudyPaths, is_file_name
from orchestrator.results.storage.checksummed_text import (
    verified,
    with_checksum,
)
from orchestrator.results.storage.files import (
    list_below,
    read_record_if_changed,
    replace,
    to_json,
)
from orchestrator.results.storage.locations import Place, relative_path
from orchestrator.results.trial_files.segment_trials import (
    SegmentTrials,
    known_listing,
    listing_of,
    read_listing,
)
from podium.errors import CorruptFileError

TRIALS_PER_SEGMENT = 512
"""So many trials make a segment of level 0."""

COUNTS_SUFFIX = ".counts.json"
"""How the name of a file with the counts of a segment ends."""

SEGMENTS_PER_LEVEL = 8
"""So many segments of a level are merged into one of the next."""

_VERSION = 3
_HASH_LENGTH = 16
T = TypeVar("T")

_KINDS = {
    "file": str,
    "level": int,
    "trials": int,
    "listing": str,
    "columns": str,
    "counts": str,
}


def counts_file_of(segment: Place) -> Place:
    """The counts beside the file of a segment."""
    return segment.parent / f"{segment.stem}{COUNTS_SUFFIX}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A Parquet file of many trials.

    Attributes:
        path: the file.
        level: how often its trials were merged, as a rule: a segment of a level has about
            `SEGMENTS_PER_LEVEL` times as many as one of the level below.
        num_trials: number of its trials.
        checksum: checksum of its listing.
        columns: hash of the names of its columns, by `hash_of_names`; empty if not known.
        counts: checksum of its counts (`segment_counts`).
    """

    path: Place
    level: int
    num_trials: int
    checksum: str
    columns: str
    counts: str

    @property
    def number(self) -> int:
        """Larger than that of every segment that it replaced; 0 of files with other names."""
        number, dash, _ = self.path.stem.partition("-")
        return int(number) if dash and number.isdecimal() else 0

    @property
    def listing(self) -> Place:
        """The listing beside the file."""
        return listing_of(self.path)

    @property
    def counts_file(self) -> Place:
        """Its counts, beside the file."""
        return counts_file_of(self.path)

    @property
    def files(self) -> tuple[Place, ...]:
        """The file, and what lies beside it."""
        return self.path, self.listing, self.counts_file

    @property
    def has_room(self) -> bool:
        """Whether it is gathered again with loose files that come after it."""
        return self.level == 0 and self.num_trials < TRIALS_PER_SEGMENT

    @property
    def trials(self) -> SegmentTrials:
        """Its trials.

        Raises:
            CorruptFileError: the listing is missing or damaged.
        """
        return known_listing(self.path, self.checksum)

    def check_listing(self) -> None:
        """Read the listing anew.

        Raises:
            CorruptFileError: it is missing, damaged, or lists another number of trials than the
                manifest says.
        """
        trials = read_listing(self.listing, self.checksum)
        if len(trials) != self.num_trials:
            raise CorruptFileError(
                f"{self.listing} lists {len(trials)} trials; the manifest says {self.num_trials}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The segments in force; a trial is in it if one of them holds the trial."""

    segments: tuple[Segment, ...] = ()

    @property
    def num_trials(self) -> int:
        """Number of trials in all segments."""
        return sum(segment.num_trials for segment in self.segments)

    @property
    def next_number(self) -> int:
        """The number of a segment that is about to be written."""
        return 1 + max((segment.number for segment in self.segments), default=0)

    @property
    def full_level(self) -> list[Segment]:
        """Segments of the lowest level that has enough of them to be merged; may be empty."""
        for level in sorted({segment.level for segment in self.segments}):
            of_level = [segment for segment in self.segments if segment.level == level]
            if len(of_level) >= SEGMENTS_PER_LEVEL:
                return of_level
        return []

    def __contains__(self, trial_id: object) -> bool:
        """Whether a trial was compacted; only listings are read, and each once in a process."""
        return any(trial_id in segment.trials for segment in self.segments)


NOTHING = Manifest()
"""The manifest of a folder that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """The files that together hold each committed trial exactly once, at one moment.

    Attributes:
        manifest: manifest in force.
        loose: trial id -> trial file, for trials that are in no segment.
    """

    manifest: Manifest
    loose: Mapping[str, Place]

    @property
    def files(self) -> tuple[Place, ...]:
        """All files to read."""
        return (*self.segments, *self.loose.values())

    @property
    def segments(self) -> dict[Place, Segment]:
        """File -> the segment that it is."""
        return {segment.path: segment for segment in self.manifest.segments}

    def search_of(self, trial_id: str) -> str | None:
        """The search of a committed trial; None of any other."""
        if trial_id in self.loose:
            return StudyPaths.search_of(self.loose[trial_id])
        found = (segment.trials.search_of(trial_id) for segment in self.manifest.segments)
        return next(filter(None, found), None)


_known: dict[Place, tuple[Hashable, Manifest]] = {}  # manifest -> mark of the version, content


def read_manifest(paths: StudyPaths) -> Manifest:
    """The manifest in force.

    Raises:
        CorruptFileError: it is damaged.
    """
    mark, manifest = _known.get(paths.manifest, (None, NOTHING))
    found = read_record_if_changed(paths.manifest, mark)
    if found is None:
        return manifest
    manifest = _of(paths, found.content)
    if found.mark is not None:
        _known[paths.manifest] = found.mark, manifest
    return manifest


def with_manifest(paths: StudyPaths, look: Callable[[Manifest], T]) -> T:
    """What is found by the manifest in force.

    Listings of segments that a compaction replaces are deleted, so one may be gone where the
    manifest was read before: then the manifest is another by now, and is looked at again.

    Raises:
        CorruptFileError: the manifest in force, or what ``look`` reads, is damaged.
    """
    while True:
        manifest = read_manifest(paths)
        try:
            return look(manifest)
        except CorruptFileError:
            if read_manifest(paths) == manifest:
                raise


def is_compacted(paths: StudyPaths, trial_id: str) -> bool:
    """Whether a segment in force holds a trial.

    Raises:
        CorruptFileError: the manifest or a listing is damaged.
    """
    return with_manifest(paths, lambda manifest: trial_id in manifest)


def read_manifest_with_listings(paths: StudyPaths) -> Manifest:
    """The manifest in force; its listings are read, and stay known if a compaction deletes them.

    Raises:
        CorruptFileError: the manifest or a listing is damaged.
    """
    return with_manifest(paths, _with_known_listings)


def _with_known_listings(manifest: Manifest) -> Manifest:
    for segment in manifest.segments:
        len(segment.trials)
    return manifest


def write_manifest(
    paths: StudyPaths, segments: Sequence[Segment], replaced: Manifest = NOTHING
) -> None:
    """Put segments in force, whose files and listings are there.

    Args:
        paths: paths of the results folder.
        segments: all that are to be in force.
        replaced: the manifest that this one follows.

    Raises:
        StoreError: it cannot be written, or another manifest is in force by now, which stays.
        CorruptFileError: the manifest that is there is damaged.
    """
    known = [
        {
            "file": relative_path(paths.folder, segment.path),
            "level": segment.level,
            "trials": segment.num_trials,
            "listing": segment.checksum,
            "columns": segment.columns,
            "counts": segment.counts,
        }
        for segment in segments
    ]
    content = to_json(with_checksum({"version": _VERSION, "segments": known}))
    replace(paths.manifest, content, paths.lock_guard, lambda found: _of(paths, found) == replaced)


def _of(paths: StudyPaths, content: bytes | None) -> Manifest:
    """The manifest in the bytes of its file."""
    values = verified(paths.manifest, content)
    return NOTHING if values is None else _parsed(paths, values)


def hash_of_names(names: Iterable[str]) -> str:
    """A name for a sequence of names, which may be part of a file name."""
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:_HASH_LENGTH]


def level_of(num_trials: int) -> int:
    """The level of a segment of so many trials: 0 below eight times `TRIALS_PER_SEGMENT`."""
    level = 0
    while num_trials >= TRIALS_PER_SEGMENT * SEGMENTS_PER_LEVEL ** (level + 1):
        level += 1
    return level


def loose_trials(paths: StudyPaths) -> dict[str, Place]:
    """Every trial file by trial id, whether or not a segment holds the trial too.

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
    manifest = read_manifest_with_listings(paths)
    while True:
        found = loose_trials(paths)
        again = read_manifest_with_listings(paths)
        if again == manifest:
            break
        manifest = again
    loose = {trial_id: path for trial_id, path in found.items() if trial_id not in manifest}
    return Inventory(manifest=manifest, loose=loose)


def inventory_to_count(paths: StudyPaths) -> Inventory:
    """As `take_inventory`, but no listing is read where every trial lies in a segment."""
    manifest = read_manifest(paths)
    if loose_trials(paths) or read_manifest(paths) != manifest:
        return take_inventory(paths)
    return Inventory(manifest=manifest, loose={})


def _parsed(paths: StudyPaths, values: Mapping[str, Any]) -> Manifest:
    if values.get("version") != _VERSION:
        raise CorruptFileError(
            f"{paths.manifest} is of version {values.get('version')!r}; this podium reads version"
            f" {_VERSION}"
        )
    entries = values.get("segments")
    if not isinstance(entries, list) or not all(map(_is_segment, entries)):
        raise CorruptFileError(
            f"{paths.manifest} is not a manifest: each of its segments must hold"
            f" {', '.join(_KINDS)}"
        )
    places = [_place_of(paths, entry["file"]) for entry in entries]
    if len(set(places)) < len(places):
        raise CorruptFileError(f"{paths.manifest} names a segment twice")
    return Manifest(
        segments=tuple(
            Segment(
                path=place,
                level=entry["level"],
                num_trials=entry["trials"],
                checksum=entry["listing"],
                columns=entry["columns"],
                counts=entry["counts"],
            )
            for place, entry in zip(places, entries, strict=True)
        )
    )


def _place_of(paths: StudyPaths, file: str) -> Place:
    """The segment of a path in the folder of the study."""
    name = file.removeprefix(f"{paths.segments.name}/")
    _check_name(paths, name)
    return paths.segments / name


def _is_segment(entry: object) -> bool:
    return isinstance(entry, dict) and all(
        type(entry.get(name)) is kind for name, kind in _KINDS.items()
    )


def _check_name(paths: StudyPaths, name: str) -> None:
    if not is_file_name(name):
        raise CorruptFileError(f"{paths.manifest} names {name!r}, which is not a file name")
