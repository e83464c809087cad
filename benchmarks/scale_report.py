"""`podium report` and the commands that list a study, of stores of 14,000 trials to a million.

    python -m benchmarks.scale_report [--trials 14000 100000] [--per-search 50] [--commands report]

Each store is written by `benchmarks.synthetic_store` as its compactor would have it, without files
of asks and attempts: the grid of 28 blocks and 10 losses with as many trials a search as it takes,
or, with ``--per-search``, as many blocks as searches of that size take, whose finals keep no
pictures. Each command runs in a process of its own, whose processor time, wall time and peak
memory are printed, and of the report the size of its page. Exits with 1 where a command fails.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.synthetic_rows import Size
from benchmarks.synthetic_store import write_synthetic_store

_COMMANDS = {
    "report": ("report", "{folder}", "--output", "{page}"),
    "status": ("status", "{folder}"),
    "trials": (
        *("trials", "{folder}", "--loss", "triplet", "--stage", "search"),
        *("--sort", "objective", "--top", "20"),
    ),
    "verify": ("verify", "{folder}"),
    "tournament": ("tournament", "{folder}"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a process took; ``peak_mb`` is the most memory that it had."""

    wall_seconds: float
    cpu_seconds: float
    peak_mb: float
    code: int


def measured(command: Sequence[str]) -> Measured:
    """Run a command of podium in a process of its own; what it prints is lost."""
    started = time.perf_counter()
    words = [sys.executable, "-m", "podium", *command]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Measured(
        wall_seconds=time.perf_counter() - started,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        peak_mb=usage.ru_maxrss * 1024 / 1e6,
        code=process.returncode,
    )


def measure(num_trials: int, per_search: int | None, commands: Sequence[str]) -> bool:
    """Print a row for each command on a store of so many trials; whether all succeeded."""
    size = Size.of_trials(num_trials, per_search=per_search)
    size = replace(size, thumbnails=per_search is None)
    with tempfile.TemporaryDirectory() as name:
        started = time.process_time()
        folder = write_synthetic_store(Path(name) / "synthetic", size, asks=False)
        taken = time.process_time() - started
        page = Path(name) / "report.html"
        stored = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        print(
            f"{size.num_search_trials:,} trials in {len(size.blocks) * len(size.losses):,}"
            f" searches, and finals: {stored / 1e6:,.0f} MB, written in {taken:.0f} s",
            flush=True,
        )
        codes = []
        for command in commands:
            words = [word.format(folder=folder, page=page) for word in _COMMANDS[command]]
            found = measured(words)
            size_text = f", page {page.stat().st_size / 1e6:.2f} MB" if page.exists() else ""
            print(
                f"{command:12}{found.wall_seconds:8.1f} s wall{found.cpu_seconds:8.1f} s"
                f" processor{found.peak_mb:8,.0f} MB, exit {found.code}"
                f"{size_text if command == 'report' else ''}",
                flush=True,
            )
            codes.append(found.code)
    return not any(codes)


def main() -> None:
    """A table for each number of trials."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, nargs="+", default=[14_000, 100_000])
    parser.add_argument("--per-search", type=int)
    parser.add_argument("--commands", nargs="+", choices=_COMMANDS, default=[*_COMMANDS])
    given = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    results = [measure(trials, given.per_search, given.commands) for trials in given.trials]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
