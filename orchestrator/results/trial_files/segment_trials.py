"""Which trials a segment holds, and of which searches: in memory, and in the listing beside it.

A listing, ``<segment>.trials.json``, is written before its segment is in force and never changes,
so a process reads it once. A lookup costs microseconds and a trial some twenty bytes of memory.
"""

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.results.records.store_paths import are_file_names, is_file_name
from orchestrator.results.storage.checksummed_text import read_with_checksum, write_compact
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

if TYPE_CHECKING:
    import polars as pl

LISTING_SUFFIX = ".trials.json"
"""How the name of a listing ends."""

_KEPT_LISTINGS = 256  # of all studies that a process reads; a study has a few dozen
_known: "dict[tuple[Place, str], SegmentTrials]" = {}


class SegmentTrials:
    """Trial ids of a segment, each with its search.

    Args:
        searches: id of a search -> ids of its trials in the segment, none of them twice.

    Attributes:
        ids: ids of all trials in UTF-8, sorted.
    """

    def __init__(self, searches: Mapping[str, Iterable[str]]) -> None:
        self._searches = tuple(sorted(searches))
        ids: list[bytes] = []
        counts = []
        for search in self._searches:
            before = len(ids)
            ids.extend(map(str.encode, searches[search]))
            counts.append(len(ids) - before)
        unsorted = np.array(ids, dtype=np.bytes_)
        order = np.argsort(unsorted, kind="stable")
        numbers = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)
        self.ids, self._search_numbers = unsorted[order], numbers[order]

    @classmethod
    def of(cls, searches: Mapping[str, str]) -> "SegmentTrials":
        """The trials of a mapping: trial id -> id of its search."""
        grouped: dict[str, list[str]] = {}
        for trial_id, search in searches.items():
            grouped.setdefault(search, []).append(trial_id)
        return cls(grouped)

    def __len__(self) -> int:
        """Number of trials."""
        return len(self.ids)

    def __contains__(self, trial_id: object) -> bool:
        """Whether the segment holds a trial."""
        return isinstance(trial_id, str) and self._place_of(trial_id) is not None

    def __iter__(self) -> Iterator[str]:
        """Trial ids, sorted by their UTF-8."""
        return map(bytes.decode, self.ids.tolist())

    def search_of(self, trial_id: str) -> str | None:
        """The search of a trial; None if the segment does not hold it."""
        place = self._place_of(trial_id)
        return None if place is None else self._searches[self._search_numbers[place]]

    def among(self, trial_ids: Collection[str]) -> list[str]:
        """Those of the trials that the segment holds."""
        return [trial_id for trial_id in trial_ids if trial_id in self]

    def by_search(self) -> dict[str, list[str]]:
        """Id of each search -> sorted ids of its trials."""
        order = np.argsort(self._search_numbers, kind="stable")
        ids = [trial_id.decode() for trial_id in self.ids[order].tolist()]
        ends = np.cumsum(np.bincount(self._search_numbers, minlength=len(self._searches)))
        bounds = pairwise([0, *ends.tolist()])
        return {
            search: ids[start:end]
            for search, (start, end) in zip(self._searches, bounds, strict=True)
        }

    def first_twice(self) -> str | None:
        """A trial that is listed twice; None if none is."""
        return _first_of_pair(self.ids)

    def frame(self) -> "pl.DataFrame":
        """One row a trial, sorted: ``search`` and ``trial_id``."""
        import polars as pl  # takes long, and plans read no rows

        searches = pl.Series(self._searches, dtype=pl.String)
        return pl.DataFrame(
            {
                "search": searches.gather(pl.Series(self._search_numbers)),
                "trial_id": pl.Series(self.ids, dtype=pl.Binary).cast(pl.String),
            }
        )

    def without(self, trial_ids: Collection[str]) -> "SegmentTrials":
        """The trials that are left when some go."""
        gone = set(trial_ids)
        return SegmentTrials(
            {
                search: left
                for search, ids in self.by_search().items()
                if (left := [trial_id for trial_id in ids if trial_id not in gone])
            }
        )

    def _place_of(self, trial_id: str) -> int | None:
        key = trial_id.encode()
        if len(key) > self.ids.itemsize:
            return None  # numpy would make a longer copy of all ids to compare them
        wanted = np.array(key, dtype=self.ids.dtype)
        place = int(self.ids.searchsorted(wanted))
        return place if place < len(self.ids) and self.ids[place] == wanted else None


def joined(parts: Sequence[SegmentTrials]) -> SegmentTrials:
    """The trials of several segments, or of a segment and loose files."""
    searches: dict[str, list[str]] = {}
    for part in parts:
        for search, ids in part.by_search().items():
            searches.setdefault(search, []).extend(ids)
    return SegmentTrials(searches)


def first_twice(parts: Sequence[SegmentTrials]) -> str | None:
    """A trial that is listed twice, in one of the parts or in two; None if none is."""
    if not parts:
        return None
    # Of sorted runs a stable sort is the faster one.
    return _first_of_pair(np.sort(np.concatenate([part.ids for part in parts]), kind="stable"))


def _first_of_pair(ids: "np.ndarray[Any, np.dtype[np.bytes_]]") -> str | None:
    """The first of sorted ids that comes again."""
    twice = np.flatnonzero(ids[1:] == ids[:-1])
    return str(ids[twice[0]].decode()) if len(twice) else None


def listing_of(segment: Place) -> Place:
    """The listing beside the file of a segment."""
    return segment.parent / f"{segment.stem}{LISTING_SUFFIX}"


def write_listing(path: Place, trials: SegmentTrials) -> str:
    """Write the listing of a segment; returns its checksum, by which it is recognised."""
    return write_compact(path, {"trials": trials.by_search()})


def read_listing(path: Place, checksum: str) -> SegmentTrials:
    """The trials in the listing of a segment, read anew.

    Args:
        path: the listing.
        checksum: its checksum, as the manifest says.

    Raises:
        CorruptFileError: it is missing, damaged, not the one that the manifest means, or holds
            names that podium never writes.
    """
    values, found = read_with_checksum(path)
    if values is None:
        raise CorruptFileError(
            f"{path} is missing, and the manifest names it. Restore the file from a copy"
        )
    if found != checksum:
        raise CorruptFileError(
            f"{path} is not the listing that the manifest means: their checksums differ."
            " Restore the original file"
        )
    return listed_trials(path, values.get("trials"))


def known_listing(segment: Place, checksum: str) -> SegmentTrials:
    """The trials of a segment; read once in the life of a process, since they never change.

    Not even once by the process that wrote it.

    Args:
        segment: the file of the segment, beside which the listing lies.
        checksum: checksum of the listing, as the manifest says.

    Raises:
        CorruptFileError: as `read_listing`.
    """
    found = _known.get((segment, checksum))
    if found is not None:
        return found
    return keep_listing(segment, checksum, read_listing(listing_of(segment), checksum))


def keep_listing(segment: Place, checksum: str, trials: SegmentTrials) -> SegmentTrials:
    """Have `known_listing` know the trials of a segment; what it has known longest it forgets."""
    while len(_known) >= _KEPT_LISTINGS:
        _known.pop(next(iter(_known)), None)
    _known[segment, checksum] = trials
    return trials


def listed_trials(path: Place, searches: Any) -> SegmentTrials:
    """The trials of a listing, once its names are checked.

    Args:
        path: file of the listing, for messages.
        searches: what it holds: id of each search -> ids of its trials.

    Raises:
        CorruptFileError: it holds something else, a trial twice, or names that are no file names.
    """
    if not isinstance(searches, dict) or not all(isinstance(it, list) for it in searches.values()):
        raise CorruptFileError(f"{path} is not a listing: it must hold the trials of searches")
    names = [*searches, *itertools.chain.from_iterable(searches.values())]
    if set(map(type, names)) - {str} or not are_file_names(names):
        wrong = next(it for it in names if not isinstance(it, str) or not is_file_name(it))
        raise CorruptFileError(f"{path} names {wrong!r}, which is not a file name")
    trials = SegmentTrials(searches)
    if (twice := trials.first_twice()) is not None:
        raise CorruptFileError(f"{path} lists trial {twice} twice. Restore the original file")
    return trials
