"""Checks that every committed trial can be read, and has the path that fits its row."""

from collections.abc import Iterable, Iterator, Sequence

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_schema, study_name
from orchestrator.results.storage.files import list_names
from orchestrator.results.storage.local_copies import fetch
from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.compaction_manifest import (
    COUNTS_SUFFIX,
    Inventory,
    Manifest,
    Segment,
    take_inventory,
)
from orchestrator.results.trial_files.parquet_file import read_column, read_groups
from orchestrator.results.trial_files.row_checks import check_row_fits_path
from orchestrator.results.trial_files.segment_counts import (
    COUNTED,
    added_up,
    counts_in,
    read_counts,
)
from orchestrator.results.trial_files.segment_trials import LISTING_SUFFIX, first_twice
from orchestrator.results.trial_files.unfinished_compaction import marks
from podium.errors import CorruptFileError

_MAX_SHOWN = 10
IDENTITY = ["study", "search", "trial_id"]
"""Columns that say to which file a row belongs."""

_CHECKED = list(dict.fromkeys((*IDENTITY, *COUNTED)))


def check_store(paths: StudyPaths) -> int:
    """Verify the bytes of every committed trial; returns how many there are.

    Of files with a checksum no more is decoded than which trials they hold.

    Raises:
        CorruptFileError: files are missing, truncated, damaged, foreign, or do not hold what
            their path says; each is named, up to ten.
        PodiumError: it is not a results folder.
    """
    inventory = take_inventory(paths)
    while problems := list(dict.fromkeys(_problems(paths, inventory))):
        fresh = take_inventory(paths)
        if fresh.manifest != inventory.manifest:  # compacted meanwhile: other files count now
            inventory = fresh
            continue
        rest = len(problems) - _MAX_SHOWN
        more = [f"and {rest} more files"] if rest > 0 else []
        raise CorruptFileError("\n".join([*problems[:_MAX_SHOWN], *more]))
    return len(inventory.loose) + inventory.manifest.num_trials


def check_file(
    path: Place,
    study: str,
    schema: pa.Schema,
    segment: Segment | None,
    columns: Sequence[str] | None = None,
) -> None:
    """Verify every byte of one file of the store, and that it holds the rows it should.

    Args:
        path: a trial file or the file of a segment.
        study: name of the study that it must belong to.
        schema: schema of the study.
        segment: the segment that the file is; None for a trial file.
        columns: those that are decoded, `IDENTITY` and `COUNTED` among them; None for all.

    Raises:
        CorruptFileError: anything is wrong with it, or with its listing.
    """
    groups = [group.select(_CHECKED) for group in read_groups(path, schema, columns)]
    if not groups:
        raise CorruptFileError(f"{path} holds no rows")
    rows = pa.concat_tables(groups)
    if segment is None:
        check_row_fits_path(path, rows, study)
    else:
        segment.check_listing()
        check_segment_rows(segment, rows, study)
        check_counts(segment, [counts_in(rows)])


def check_segment_rows(segment: Segment, rows: pa.Table, study: str) -> None:
    """Refuse a segment that does not hold the rows that its listing says.

    Args:
        segment: the segment.
        rows: its rows, at least with their study, search and trial id.
        study: name of the study that they must belong to.

    Raises:
        CorruptFileError: it does not; the file and the difference are named.
    """
    path, trials = segment.path, segment.trials
    found = pl.DataFrame(pl.from_arrow(rows.select(["search", "trial_id"]))).sort("trial_id")
    is_of_study = pc.all(pc.equal(rows["study"], study), skip_nulls=False).as_py()
    if is_of_study and found.equals(trials.frame()):
        return
    others = set(rows["study"].to_pylist()) - {study}
    if others:
        other = min(map(repr, others))
        raise CorruptFileError(f"{path} holds rows of the study {other}, not {study!r}")
    trial_ids = rows["trial_id"].to_pylist()
    if len(trial_ids) != len(trials) or set(trial_ids) != set(trials):
        raise CorruptFileError(f"{path} does not hold the trials that the listing beside it says")
    for trial_id, search in zip(trial_ids, rows["search"].to_pylist(), strict=True):
        if search != trials.search_of(trial_id):
            raise CorruptFileError(
                f"{path} holds a trial {trial_id} whose search is {search!r}; the listing beside"
                f" it says {trials.search_of(trial_id)!r}"
            )


def check_counts(segment: Segment, parts: Iterable[pl.DataFrame]) -> None:
    """Refuse counts of a segment that are not those of its rows.

    Args:
        segment: the segment.
        parts: the counts of its rows.

    Raises:
        CorruptFileError: its counts are missing, damaged, or others.
    """
    if not read_counts(segment).equals(added_up(parts)):
        raise CorruptFileError(
            f"{segment.counts_file} holds other counts than its segment has rows: restore it from"
            " a copy"
        )


def check_segments_disjoint(manifest: Manifest) -> None:
    """Refuse segments of which two hold the same trial: it would be counted twice.

    Raises:
        CorruptFileError: two do; they are named.
    """
    twice = first_twice([segment.trials for segment in manifest.segments])
    if twice is not None:
        files = [str(segment.path) for segment in manifest.segments if twice in segment.trials]
        raise CorruptFileError(
            f"{' and '.join(files)} hold trial {twice} twice: restore the manifest from a copy"
        )


def leftover_files(paths: StudyPaths, inventory: Inventory) -> Iterator[Place]:
    """What a killed compaction left in the folders of segments, and that holds nothing of its own.

    Raises:
        CorruptFileError: one does hold trials that are found nowhere else, as when the manifest
            was lost: deleting or ignoring it would lose them.
    """
    segments = inventory.segments
    for path in _files_beside_segments(paths, ".parquet"):
        if path in segments or path in marks(paths):
            continue
        lost = sum(
            trial_id not in inventory.loose and trial_id not in inventory.manifest
            for trial_id in set(read_column(path, "trial_id"))
        )
        if lost:
            raise CorruptFileError(
                f"{path} holds {lost} trials found nowhere else, and {paths.manifest} does not "
                "name it: restore the manifest, or move the file away to do without these trials"
            )
        yield path
    beside = {file for segment in segments.values() for file in segment.files[1:]}
    for path in _files_beside_segments(paths, ".json"):
        if path.name.endswith((LISTING_SUFFIX, COUNTS_SUFFIX)) and path not in beside:
            yield path


def _files_beside_segments(paths: StudyPaths, suffix: str) -> Iterator[Place]:
    yield from (paths.segments / name for name in list_names(paths.segments, suffix))


def _problems(paths: StudyPaths, inventory: Inventory) -> Iterator[str]:
    study, schema = study_name(paths), read_schema(paths)
    fetch(inventory.files)
    segments = inventory.segments
    for path in inventory.files:
        try:
            check_file(path, study, schema, segments.get(path), _CHECKED)
        except CorruptFileError as error:
            yield str(error)
    try:
        check_segments_disjoint(inventory.manifest)
        for _ in leftover_files(paths, inventory):
            pass
    except CorruptFileError as error:
        yield str(error)
