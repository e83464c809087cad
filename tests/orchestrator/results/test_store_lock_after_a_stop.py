import json
import time

import pytest

from orchestrator.results.errors import LockHeldError
from orchestrator.results.lock import StudyLock
from orchestrator.results.paths import StudyPaths


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
