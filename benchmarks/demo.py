"""The quickstart study as a new user runs it: wall time, memory of the driver, busy slots.

    python -m benchmarks.demo [--slots 2]

Runs `podium run studies/quickstart.yaml` into a temporary folder, Ray's start and the report
included; glyphs that were rendered before stay cached. A slot is occupied between the start and
the commit of a trial, and counts from the first start to the last commit.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl
import psutil

from podium.orchestrator.results.trial_files.reader import Reader

POLL_SECONDS = 0.2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slots", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as storage:
        command = ["-m", "podium", "run", "studies/quickstart.yaml", "--storage", storage]
        started = time.perf_counter()
        with subprocess.Popen([sys.executable, *command], stderr=subprocess.DEVNULL) as driver:
            peak_bytes = _peak_bytes(driver)
        seconds = time.perf_counter() - started
        print(f"exit code {driver.returncode}, {seconds:.0f} s in all")
        print(f"driver's peak resident memory: {peak_bytes / 2**20:.0f} MB")
        print(_occupancy_line(Path(storage) / "quickstart", options.slots))


def _peak_bytes(driver: "subprocess.Popen[bytes]") -> int:
    process, peak = psutil.Process(driver.pid), 0
    while driver.poll() is None:
        try:
            peak = max(peak, process.memory_info().rss)
        except psutil.NoSuchProcess:
            break
        time.sleep(POLL_SECONDS)
    driver.wait()
    return peak


def _occupancy_line(study: Path, slots: int) -> str:
    started, ended, seconds = map(pl.col, ("started_at", "ended_at", "seconds"))
    trials, busy, span, training = (
        Reader(study)
        .trials()
        .select(
            pl.len(),
            (ended - started).sum().dt.total_seconds(fractional=True).alias("busy"),
            (ended.max() - started.min()).dt.total_seconds(fractional=True).alias("span"),
            seconds.sum(),
        )
        .collect()
        .row(0)
    )
    return (
        f"{trials} trials in {span:.1f} s on {slots} slots: occupied {busy / slots / span:.1%}, "
        f"of it in training, validation and test {training / slots / span:.1%}"
    )


if __name__ == "__main__":
    main()
