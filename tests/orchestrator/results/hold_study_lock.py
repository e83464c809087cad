"""Holds the lock of a results folder until it is killed: FOLDER."""

import sys
import time
from pathlib import Path

from orchestrator.results.lock import StudyLock
from orchestrator.results.paths import StudyPaths

with StudyLock(StudyPaths(Path(sys.argv[1])), print, heartbeat_seconds=0.05):
    print("held", flush=True)
    time.sleep(300)
