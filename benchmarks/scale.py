"""What one more commit costs beside up to a million trials, and what compacting them does.

    python -m benchmarks.scale [--trials 1000 10000 100000 1000000] [--commits 2000] [--folder DIR]

For each size a study that was never trained is written, as its runs would have left it: segments
of all levels, as many of each as there would be. Rows have the store's schema; they repeat those
of one search of few epochs and classes, with ids of their own. Then trials are committed in a
process of its own, as a run does, compactions in their thread included.

Printed are processor milliseconds, since disks are shared: of the first commit, which reads the
listings; of a later one, by fifth of the commits; and of what compacting adds to each trial. The
memory is what the listings take.

Then as many trials more are committed by a process that gets SIGKILL while it compacts the first
of them, and by the same command again. Exits with 1 unless the second finds what the first has
committed, and then polars each trial of all once.
"""

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import psutil
import pyarrow as pa

from benchmarks.synthetic_columns import trial_table
from benchmarks.synthetic_rows import HYPERPARAMETERS, KS, Size, search_rows, searches_of
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_schema, write_snapshot_files
from orchestrator.results.records.trial_schema import trial_schema
from orchestrator.results.trial_files.commit_trials import commit_trial
from orchestrator.results.trial_files.compaction import compact, finish_compaction, write_segment
from orchestrator.results.trial_files.compaction_during_run import CompactionDuringRun
from orchestrator.results.trial_files.compaction_manifest import (
    SEGMENTS_PER_LEVEL,
    TRIALS_PER_SEGMENT,
    is_compacted,
    read_manifest,
    write_manifest,
)
from orchestrator.results.trial_files.segment_trials import SegmentTrials
from orchestrator.study.resolved_study import resolved_dict

_SIZE = Size(epochs=2, val_classes=2, test_classes=2, thumbnails=False)
_SEARCHES_AT_ONCE = 5  # 250 trials, a row group


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sizes = [1_000, 10_000, 100_000, 1_000_000]
    parser.add_argument("--trials", type=int, nargs="+", default=sizes)
    parser.add_argument("--commits", type=int, default=2000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--commit-to", type=Path, help="measure commits beside a store")
    parser.add_argument("--continue-in", type=Path, help="commit what a store lacks")
    parser.add_argument("--kill-after", type=int, help="commits, with --continue-in")
    options = parser.parse_args()
    if options.commit_to is not None:
        print(json.dumps(_commit(StudyPaths(options.commit_to), options.commits)))
        return
    if options.continue_in is not None:
        paths = StudyPaths(options.continue_in)
        print(json.dumps(_continue(paths, options.commits, options.kill_after)))
        return
    for trials in options.trials:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            paths = StudyPaths(Path(folder) / "synthetic")
            _measure(paths, trials, options.commits)
            _kill(paths, trials, options.commits)


def _measure(paths: StudyPaths, trials: int, commits: int) -> None:
    began = time.process_time()
    write_store(paths, trials)
    written = time.process_time() - began
    segments = len(read_manifest(paths).segments)
    num_bytes = sum(path.stat().st_size for path in paths.folder.rglob("*.parquet"))
    found = json.loads(_process("--commit-to", paths.folder, "--commits", commits).stdout)
    fifths = ", ".join(f"{ms:.2f}" for ms in found["ms_by_fifth"])
    print(
        f"{trials:9,} trials in {segments} segments of {num_bytes / 2**20:.0f} MB, written in"
        f" {written:.0f} s: first commit {found['first_ms']:.0f} ms and"
        f" {found['listings_mb']:.0f} MB, later ones {fifths} ms by fifth, a lookup"
        f" {found['lookup_us']:.0f} us, compacting {found['compacting_ms']:.1f} ms a trial",
        flush=True,
    )


def _kill(paths: StudyPaths, trials: int, commits: int) -> None:
    words = ("--continue-in", paths.folder, "--commits", commits)
    full = TRIALS_PER_SEGMENT * (commits // 2 // TRIALS_PER_SEGMENT) or commits // 2
    killed = _process(*words, "--kill-after", full, must_succeed=False)
    again = json.loads(_process(*words).stdout)
    total = trials + 2 * commits + 1
    ids = pl.scan_parquet(f"{paths.folder}/**/*.parquet").select(
        rows=pl.len(), trials=pl.col("trial_id").n_unique()
    )
    counted = ids.collect().row(0)
    print(
        f"{'':9} killed (exit {killed.returncode}) after {full:,} of {commits:,} commits, of which"
        f" the same command found {again['found']:,}; then polars finds {counted[0]:,} rows of"
        f" {counted[1]:,} trials, of {total:,}",
        flush=True,
    )
    if (killed.returncode, again["found"]) != (-signal.SIGKILL, full) or set(counted) != {total}:
        sys.exit(1)


def _process(*words: object, must_succeed: bool = True) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.scale", *map(str, words)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=must_succeed)


def write_store(paths: StudyPaths, trials: int) -> None:
    """Write a study of so many trials, those that fill no segment in a smaller one."""
    schema = trial_schema(KS, dict.fromkeys(HYPERPARAMETERS, "float"))
    write_snapshot_files(
        paths,
        name="synthetic",
        study=resolved_dict(_SIZE.study),
        provenance={"podium_version": "0.1.0", "git_dirty": False},
        schema=schema,
    )
    whole = _one_search(schema)
    segments, start = [], 0
    for level, count in segments_of(trials):
        ids = SegmentTrials(dict(_searches(start, count)))
        rows = _rows(whole, start, count)
        segments.append(write_segment(paths, schema, ids, rows, least_level=level))
        start += count
    write_manifest(paths, segments)


def segments_of(trials: int) -> Iterator[tuple[int, int]]:
    """Level and number of trials of each segment, as runs would have left them."""
    level, size = 0, TRIALS_PER_SEGMENT
    while size * SEGMENTS_PER_LEVEL <= trials:
        level, size = level + 1, size * SEGMENTS_PER_LEVEL
    while trials >= TRIALS_PER_SEGMENT:
        yield from [(level, size)] * (trials // size)
        trials %= size
        level, size = level - 1, size // SEGMENTS_PER_LEVEL
    if trials:
        yield 0, trials


def _one_search(schema: pa.Schema) -> pa.Table:
    search = next(iter(searches_of(_SIZE)))
    rows = search_rows(_SIZE, search, np.random.default_rng(0))
    return trial_table([row for row in rows if row.stage == "search"], schema, _SIZE)


def _searches(start: int, count: int) -> Iterator[tuple[str, list[str]]]:
    """Id and trials of each search among the trials of these numbers."""
    for first in range(start, start + count, _SIZE.trials):
        yield _hash(f"search {first}"), _ids(first, min(_SIZE.trials, start + count - first))


def _ids(first: int, count: int) -> list[str]:
    return [_hash(f"trial {number}") for number in range(first, first + count)]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _rows(whole: pa.Table, start: int, count: int) -> Iterator[pa.Table]:
    batch = []
    for search, trial_ids in _searches(start, count):
        batch.append(_renamed(whole, search, trial_ids))
        if len(batch) == _SEARCHES_AT_ONCE:
            yield pa.concat_tables(batch)
            batch = []
    if batch:
        yield pa.concat_tables(batch)


def _renamed(whole: pa.Table, search: str, trial_ids: list[str]) -> pa.Table:
    rows = whole.slice(0, len(trial_ids))
    for name, values in (("search", [search] * len(trial_ids)), ("trial_id", trial_ids)):
        place = rows.column_names.index(name)
        rows = rows.set_column(place, rows.schema.field(name), pa.array(values, pa.string()))
    return rows


def _commit(paths: StudyPaths, commits: int) -> dict[str, Any]:
    """Commit trials as a run does, and measure; in a process that knows nothing yet."""
    schema = read_schema(paths)
    (row,) = _one_search(schema).slice(0, 1).to_pylist()
    rows = [
        {**row, "search": "new", "trial_id": trial_id} for trial_id in _ids(10**9, commits + 1)
    ]
    before, began = _memory_mb(), time.process_time()
    assert commit_trial(paths, schema, rows[0])
    first, listings = time.process_time() - began, _memory_mb() - before
    assert not is_compacted(paths, rows[1]["trial_id"])
    looked = _timed_lookups(paths, rows[1]["trial_id"])
    own, whole = [], time.process_time()
    with CompactionDuringRun(paths, lambda: None) as compaction:
        for row in rows[1:]:
            began = time.thread_time()
            written = commit_trial(paths, schema, row)
            own.append(time.thread_time() - began)
            assert written is not None
            compaction.committed("new", row["trial_id"], written)
    compacting = time.process_time() - whole - sum(own)
    return {
        "first_ms": 1e3 * first,
        "listings_mb": listings,
        "lookup_us": 1e6 * looked,
        "ms_by_fifth": [1e3 * float(np.mean(part)) for part in np.array_split(own, 5)],
        "compacting_ms": 1e3 * compacting / commits,
    }


def _continue(paths: StudyPaths, commits: int, kill_after: int | None) -> dict[str, int]:
    """Commit the trials that are not there, as a run does, which ends in a compaction."""
    finish_compaction(paths)
    schema = read_schema(paths)
    (row,) = _one_search(schema).slice(0, 1).to_pylist()
    found = 0
    with CompactionDuringRun(paths, lambda: None) as compaction:
        for number, trial_id in enumerate(_ids(2 * 10**9, commits)):
            if number == kill_after:
                os.kill(os.getpid(), signal.SIGKILL)
            values = {**row, "search": "killed", "trial_id": trial_id}
            written = commit_trial(paths, schema, values)
            found += written is None
            compaction.committed("killed", trial_id, written)
    compact(paths)
    return {"found": found}


def _timed_lookups(paths: StudyPaths, trial_id: str) -> float:
    manifest = read_manifest(paths)
    began, times = time.process_time(), 1000
    for _ in range(times):
        assert trial_id not in manifest
    return (time.process_time() - began) / times


def _memory_mb() -> float:
    return psutil.Process().memory_info().rss / 2**20


if __name__ == "__main__":
    main()
