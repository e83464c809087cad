"""Wall time of whole commands, from start to exit, against `python -c pass`.

    python -m benchmarks.start_up [--study podium-results/quickstart] [--runs 7]

The report is timed only if the results folder is there. Prints medians; ``limit`` is what podium
wants to stay below on two cores.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--study", type=Path, default=Path("podium-results/quickstart"))
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = ["report", str(options.study), "--output", f"{folder}/report.html"]
        commands = {
            "python -c pass": ([sys.executable, "-c", "pass"], None),
            "podium --help": (_podium("--help"), 0.3),
            "podium plan studies/quickstart.yaml": (
                _podium("plan", "studies/quickstart.yaml"),
                0.6,
            ),
            "podium report": (_podium(*report), 4.0),
        }
        if not options.study.is_dir():
            print(f"podium report is left out: {options.study} is not there", file=sys.stderr)
            del commands["podium report"]
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(options.runs):
            for name, (command, _) in commands.items():
                seconds[name].append(_seconds(command))
    print(f"{'median seconds':38}{'':>8}{'limit':>8}")
    for name, (_, limit) in commands.items():
        print(f"{name:38}{statistics.median(seconds[name]):>8.2f}{limit or '':>8}")


def _podium(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "podium", *arguments]


def _seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
