"""Holds the lock of a results folder, or of its URI, until it is killed: FOLDER."""

import sys
import time

from podium.orchestrator.results.locks import study_lock
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.locations import parse_place

study_lock._HEARTBEAT_SECONDS = 0.05
with study_lock.StudyLock(StudyPaths(parse_place(sys.argv[1])), print):
    print("held", flush=True)
    time.sleep(300)
