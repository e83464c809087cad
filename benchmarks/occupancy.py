"""How busy the trial slots of a finished study were, from its results alone.

    python -m benchmarks.occupancy podium-results/quickstart [--slots 2]

Occupied time is the sum of all trials' time between start and commit; available time is the
slots times the time between the first start and the last commit. Only for studies that ran in
one go: the time between two runs would count as idle.
"""

import argparse
from pathlib import Path

import polars as pl

from podium.orchestrator.results.trial_files.reader import Reader


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path)
    parser.add_argument("--slots", type=int, default=2)
    options = parser.parse_args()
    print(occupancy_line(options.study, options.slots))


def occupancy_line(study: Path, slots: int) -> str:
    started, ended = pl.col("started_at"), pl.col("ended_at")
    row = (
        Reader(study)
        .trials()
        .select(
            trials=pl.len(),
            busy_seconds=(ended - started).dt.total_microseconds().sum() / 1e6,
            span_seconds=(ended.max() - started.min()).dt.total_microseconds() / 1e6,
            training_seconds=pl.col("seconds").sum(),
        )
        .collect()
        .row(0, named=True)
    )
    available = slots * row["span_seconds"]
    return (
        f"{row['trials']} trials in {row['span_seconds']:.1f} s on {slots} slots: "
        f"occupied {100 * row['busy_seconds'] / available:.1f} %, "
        f"of it in training, validation and test {100 * row['training_seconds'] / available:.1f} %"
    )


if __name__ == "__main__":
    main()
