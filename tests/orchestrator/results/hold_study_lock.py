"""Holds the lock of a results folder, or of its URI, until it is killed: FOLDER."""

import sys
import time

from podium.orchestrator.results.locks.study_lock import StudyLock
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.locations import parse_place

with StudyLock(StudyPaths(parse_place(sys.argv[1])), print, heartbeat_seconds=0.05):
    print("held", flush=True)
    time.sleep(300)
