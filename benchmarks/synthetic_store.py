"""Results of a study of any size, never trained, for measuring what reads results.

Rows are written in the store's schema as its compactor writes them, in row groups of so many, one
search after the other, so that a store may be larger than memory.

    python -m benchmarks.synthetic_store FOLDER [--trials 50] [--seeds 3] [--epochs 20]
"""

import argparse
from collections.abc import Iterator
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
from orchestrator.results.trial_files.compaction_manifest import write_manifest
from orchestrator.results.trial_files.segment_trials import SegmentTrials
from orchestrator.study.resolved_study import resolved_dict
from orchestrator.study.study import Search

_Found = tuple[Search, list[Row]]

_TRIALS_OF_SEGMENT = 20_000


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
    segments = []
    for found in _parts(size, seed):
        trials = SegmentTrials({it.id: [row.trial_id for row in rows] for it, rows in found})
        segments.append(write_segment(paths, schema, trials, _tables(found, schema, size)))
        for search, rows in found if asks else ():
            _write_asks(paths, search, rows)
    write_manifest(paths, segments)
    return folder


def _parts(size: Size, seed: int) -> Iterator[list[_Found]]:
    """Searches with their rows, as many at a time as a segment holds."""
    found: list[_Found] = []
    num_rows = 0
    for number, search in enumerate(searches_of(size)):
        rows = search_rows(size, search, np.random.default_rng([seed, number]))
        found.append((search, rows))
        num_rows += len(rows)
        if num_rows >= _TRIALS_OF_SEGMENT:
            yield found
            found, num_rows = [], 0
    if found:
        yield found


def _tables(found: list[_Found], schema: pa.Schema, size: Size) -> Iterator[pa.Table]:
    """A row group each."""
    for _, rows in found:
        for start in range(0, len(rows), TRIALS_PER_ROW_GROUP):
            yield trial_table(rows[start : start + TRIALS_PER_ROW_GROUP], schema, size)


def _write_asks(paths: StudyPaths, search: Search, rows: list[Row]) -> None:
    for row in rows:
        if row.stage == "search":
            write_ask(
                paths,
                Ask(
                    search=search.id,
                    index=row.index,
                    trial_id=row.trial_id,
                    config_hash=f"{search.loss}.{row.config}",
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
