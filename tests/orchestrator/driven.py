"""An executor in a process of its own, started and watched by a test."""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path

import psutil

from tests.orchestrator.drive_executor import RELEASED, Plan
from tests.orchestrator.ray_cluster import ROOT


class Driven:
    """An executor in a process of its own, and what its scheduler heard so far."""

    def __init__(self, plan: Plan, environment=None) -> None:
        self.folder = plan.folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.orchestrator.drive_executor", json.dumps(asdict(plan))],
            cwd=ROOT,
            env=environment or {**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.events: list[dict] = []
        self.errors: list[str] = []
        self._lines: queue.Queue = queue.Queue()
        self._readers = [
            threading.Thread(target=self._read, args=arguments, daemon=True)
            for arguments in (
                (self.process.stdout, self._lines.put),
                (self.process.stderr, self.errors.append),
            )
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream, put) -> None:
        for line in stream:
            put(line)
        put("")

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(timeout=10)
        self.process.stdout.close()
        self.process.stderr.close()

    def until(self, event: str, trial: str = "", seconds: float = 120) -> dict:
        """The event, heard already or to come."""

        def found():
            return [heard for heard in self.events if _is(heard, event, trial)]

        self._listen(found, f"{event} of {trial}", seconds)
        return found()[0]

    def until_number(self, number: int, event: str, seconds: float = 120) -> list[str]:
        """The trials of which so many events were heard, when the last of them is."""
        self._listen(lambda: len(self.all_of(event)) >= number, f"{number} {event}", seconds)
        return self.all_of(event)

    def _listen(self, is_enough, awaited: str, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not is_enough():
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no {awaited}: {self.events}") from None
            assert line, "".join(self.errors)
            if line.startswith("{"):
                self.events.append(json.loads(line))

    def pid(self, trial: str) -> int:
        return self.announced(trial)["pid"]

    def announced(self, trial: str) -> dict:
        path = Path(self.folder) / f"{trial}.json"
        deadline = time.monotonic() + 120
        while not path.exists():
            assert self.process.poll() is None, "".join(self.errors)
            assert time.monotonic() < deadline, f"{trial} does not start"
            time.sleep(0.05)
        return json.loads(path.read_text())

    def release(self) -> None:
        """Trials that hold end now."""
        (Path(self.folder) / RELEASED).touch()

    def all_of(self, event: str) -> list[str]:
        return [heard["trial"] for heard in self.events if heard["event"] == event]

    def end(self, seconds: float = 120) -> int:
        """Wait for its end; returns the exit code."""
        return self.process.wait(timeout=seconds)


def _is(heard: dict, event: str, trial: str) -> bool:
    return (heard["event"], heard["trial"]) == (event, trial)


def gone(pid: int, seconds: float) -> bool:
    try:
        psutil.Process(pid).wait(seconds)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return False
    return True
