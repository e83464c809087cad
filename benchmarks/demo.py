"""The quickstart study as a new user runs it: wall time, memory of the driver, busy slots.

    python -m benchmarks.demo [--slots 2]

Runs `podium run studies/quickstart.yaml` into a temporary folder, Ray's start and the report
included; glyphs that were rendered before stay cached.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.occupancy import occupancy_line

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
        print(occupancy_line(Path(storage) / "quickstart", options.slots))


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


if __name__ == "__main__":
    main()
