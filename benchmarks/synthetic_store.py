"""Results of a study of any size, never trained, for measuring what reads results.

Rows are written in the store's schema and in the segments into which a run gathers its trials:
those of all searches in turn, finals last, in as many segments of each level as they leave.

    python -m benchmarks.synthetic_store FOLDER [--trials 50] [--seeds 3] [--epochs 20]
"""

import argparse
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.synthetic_columns import trial_table
from benchmarks.synthetic_rows import HYPERPARAMETERS, KS, Row, Size, search_rows, searches_of
from orchestrator.results.records.asks import Ask, write_ask
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import write_snapshot_files
from orchestrator.results.records.trial_schema import trial_schema
from orchestrator.results.trial_files.compaction import TRIALS_PER_ROW_GROUP, write_segment
from orchestrator.results.trial_files.compaction_manifest import (
    SEGMENTS_PER_LEVEL,
    TRIALS_PER_SEGMENT,
    level_of,
    write_manifest,
)
from orchestrator.results.trial_files.segment_trials import SegmentTrials
from orchestrator.study.resolved_study import resolved_dict


def write_synthetic_store(folder: Path, size: Size, *, seed: int = 0, asks: bool = True) -> Path:
    """A finished results folder; the same arguments give the same numbers.

    Args:
        folder: to write.
        size: how much was run.
        seed: of all noise.
        asks: whether every suggestion of a search is written down too, a file each.
    """
    paths = StudyPaths(folder)
    schema = trial_schema(KS, dict.fromkeys(HYPERPARAMETERS, "float"))
    write_snapshot_files(
        paths,
        name="synthetic",
        study=resolved_dict(size.study),
        provenance={"podium_version": "0.1.0", "git_dirty": False},
        schema=schema,
    )
    rows = _rows(size, seed)
    segments = []
    for start, stop in pairwise(_bounds(len(rows))):
        trials = SegmentTrials.of({row.trial_id: row.search.id for row in rows[start:stop]})
        tables = _tables(rows[start:stop], schema, size)
        segments.append(write_segment(paths, schema, trials, tables))
    write_manifest(paths, segments)
    if asks:
        _write_asks(paths, rows)
    return folder


def _rows(size: Size, seed: int) -> list[Row]:
    """All trials in the order in which a run hands them out."""
    rows = [
        row
        for number, search in enumerate(searches_of(size))
        for row in search_rows(size, search, np.random.default_rng([seed, number]))
    ]
    return sorted(rows, key=lambda row: (row.stage != "search", row.index))


def _bounds(num_rows: int) -> list[int]:
    """Where the segments of so many trials begin, and the end of the last; the largest first."""
    bounds = [0]
    while (left := num_rows - bounds[-1]) > 0:
        whole = TRIALS_PER_SEGMENT * SEGMENTS_PER_LEVEL ** level_of(left)
        bounds.append(bounds[-1] + min(left, whole))
    return bounds


def _tables(rows: list[Row], schema: pa.Schema, size: Size) -> Iterator[pa.Table]:
    """As compactions make them."""
    for start in range(0, len(rows), TRIALS_PER_ROW_GROUP):
        yield trial_table(rows[start : start + TRIALS_PER_ROW_GROUP], schema, size)


def _write_asks(paths: StudyPaths, rows: list[Row]) -> None:
    for row in rows:
        if row.stage == "search":
            write_ask(
                paths,
                Ask(
                    search=row.search.id,
                    index=row.index,
                    trial_id=row.trial_id,
                    config_hash=f"{row.search.loss}.{row.config}",
                    hyperparameters=dict(zip(HYPERPARAMETERS, row.values, strict=True)),
                    source="default" if row.is_default else "sampler",
                ),
            )


def main() -> None:
    """Write a store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    for name in ("trials", "seeds", "epochs"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Size(), name))
    parser.add_argument("--no-asks", action="store_true")
    given = parser.parse_args()
    size = Size(trials=given.trials, seeds=given.seeds, epochs=given.epochs)
    write_synthetic_store(given.folder, size, asks=not given.no_asks)


if __name__ == "__main__":
    main()
