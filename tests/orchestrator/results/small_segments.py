"""Segments of few trials and levels of few segments, so that small stores have several levels."""

from orchestrator.results.trial_files import compaction_during_run, compaction_manifest
from orchestrator.results.trial_files.compaction import compact
from tests.orchestrator.results.store_rows import commit, new_store, row

TRIALS_PER_SEGMENT, SEGMENTS_PER_LEVEL = 2, 3


def make_segments_small(put=setattr, trials=TRIALS_PER_SEGMENT, segments=SEGMENTS_PER_LEVEL):
    """So many trials make a segment, and so many segments one of the next level.

    Args:
        put: as `setattr`, of a patch that is undone.
        trials: trials of a segment.
        segments: segments of a level.
    """
    for module in (compaction_manifest, compaction_during_run):
        put(module, "TRIALS_PER_SEGMENT", trials)
    put(compaction_manifest, "SEGMENTS_PER_LEVEL", segments)
    put(compaction_during_run, "_LEAST_GATHERED", trials)


def nearly_full(folder):
    """Two levels with two segments each, and two loose trials that make both levels full."""
    store = new_store(folder)
    for index in range(0, 16, TRIALS_PER_SEGMENT):
        commit(store, row(index), row(index + 1))
        compact(store)
    return commit(store, row(16), row(17))


NUM_NEARLY_FULL = 18
