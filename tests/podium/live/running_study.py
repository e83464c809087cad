"""A results folder as a run leaves it in its midst, and the run that goes on in it."""

from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from podium.orchestrator.results.locks.study_lock import StudyLock
from podium.orchestrator.results.records.runs import (
    StartedTrial,
    read_runs,
    write_run,
)
from podium.orchestrator.results.records.store_paths import StudyPaths
from tests.orchestrator.small_study import STUDY, InterruptedAfter, run_here

SEARCH = "glyphs-greek.conv_small.8.contrastive.fixed.0"
RUNNING = StartedTrial(
    trial_id="running0", search=SEARCH, stage="search", attempt=1, where="node-a 0"
)
LOG = """\
[12:00:00] attempt 1 on node-a, 2026-11-23 UTC
[12:00:01] fold 0 epoch 1: train loss 0.9, val R@1 0.25, 911 MB, 1.00 s
what the trial prints: fold 0 epoch 7: val R@1 0.9, 1 MB
[12:00:02] fold 0 epoch 2: train loss 0.8, val R@1 0.5, 911 MB, 1.00 s
"""


def stopped_study(storage):
    """The folder of a study that was stopped after a few trials."""
    run_here(STUDY, storage, InterruptedAfter(12))
    return storage / STUDY.name


@contextmanager
def running(folder):
    """While the block runs, this process runs the study, it seems: a trial in one of two slots."""
    paths = StudyPaths(folder)
    with StudyLock(paths, lambda line: None):
        before = read_runs(paths)
        run = replace(
            before[-1],
            number=len(before) + 1,
            started_at=datetime.now(UTC),
            end=None,
            seconds_left=90.0,
            running=(RUNNING,),
        )
        write_run(paths, run)
        paths.trial_logs.mkdir(parents=True, exist_ok=True)
        paths.trial_log(RUNNING.trial_id).write_text(LOG)
        yield
        write_run(paths, replace(run, end="interrupted", running=(), seconds_left=None))
