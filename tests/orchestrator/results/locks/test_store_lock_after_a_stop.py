import json
import threading
import time

import pytest

from orchestrator.results.errors import LockHeldError
from orchestrator.results.locks.local_lock import LocalLock
from orchestrator.results.locks.study_lock import StudyLock
from orchestrator.results.records.store_paths import StudyPaths


def test_a_run_that_was_stopped_for_long_asks_before_it_writes(tmp_path):
    paths = StudyPaths(tmp_path / "study")

    def owner():
        return json.loads(paths.lock.read_text())

    with StudyLock(paths, print, heartbeat_seconds=1000.0, watch_seconds=0.4) as lock:
        lock.raise_if_lost()  # young enough to be believed
        assert owner()["heartbeat"] == 0
        time.sleep(0.3)  # as SIGSTOP: no heartbeat meanwhile
        lock.raise_if_lost()
        assert owner()["heartbeat"] == 1
        time.sleep(0.3)
        paths.lock.write_text(json.dumps({**owner(), "host": "far", "pid": 7, "token": "x"}))
        with pytest.raises(LockHeldError, match=r"lost the lock of .* to process 7 on far"):
            lock.raise_if_lost()


class AwayForLong(LocalLock):
    """The second look waits until the store is back, and the owner beats a moment after that."""

    def __init__(self, paths, seconds, owner_beats):
        super().__init__(paths.lock, paths.lock_guard)
        self._seconds, self._owner_beats, self._looks = seconds, owner_beats, 0

    def look(self):
        self._looks += 1
        if self._looks == 2:
            time.sleep(self._seconds)
            threading.Timer(0.1, self._owner_beats).start()
        return super().look()


def test_a_store_that_is_away_while_a_lock_is_watched_does_not_make_its_owner_dead(tmp_path):
    paths = StudyPaths(tmp_path / "study")
    with StudyLock(paths, print):
        owner = json.loads(paths.lock.read_text())
    owner |= {"host": "far", "machine": "far away", "pid": 7, "token": "theirs"}
    paths.lock.write_text(json.dumps(owner))

    def beat():
        paths.lock.write_text(json.dumps(owner | {"heartbeat": 1}))

    lock = StudyLock(paths, print, watch_seconds=0.5)
    lock._file = AwayForLong(paths, 0.6, beat)
    with pytest.raises(LockHeldError, match="process 7 on far is running this study"), lock:
        raise AssertionError("two runs at once")
