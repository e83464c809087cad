"""Runs that want the lock of a study: a second process that has it, and many at once."""

import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

from podium.errors import LockHeldError
from podium.orchestrator.results.locks.study_lock import StudyLock


@contextmanager
def held_by_another_process(folder):
    """A second process that holds the lock of a results folder; killed in the end."""
    script = Path(__file__).with_name("hold_study_lock.py")
    process = subprocess.Popen(
        [sys.executable, script, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def race(paths, runs=8):
    """Runs that start at the same moment; returns the numbers of those that got the lock."""
    start, end = threading.Barrier(runs), threading.Event()
    won, refused = [], []

    def run(number):
        lock = StudyLock(paths, print)
        start.wait()
        try:
            with lock:
                won.append(number)
                end.wait()
        except LockHeldError:
            refused.append(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(runs)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(won) + len(refused) == runs)
    end.set()
    for thread in threads:
        thread.join()
    return won


def wait_until(condition, seconds=20.0):
    """Until it holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)
