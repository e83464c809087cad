"""Attacks on real runs through Ray. Training is simulated, everything around it is real.

`test_attack_matrix` attacks runs on a cluster of several nodes.
"""

import gc
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from polars.testing import assert_frame_equal

from podium.orchestrator.executors.ray_tune import RayTuneExecutor
from podium.orchestrator.results.records.journal import read_attempts
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.study.resource_demand import demand_of
from podium.orchestrator.study.study import ResourceSettings
from tests.orchestrator.drive_small_study import SMALLER
from tests.orchestrator.ray_cluster import ROOT
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import run_here, tables

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def tables_without_ray(tmp_path_factory):
    """The same study, run in one process without Ray."""
    storage = tmp_path_factory.mktemp("undisturbed")
    run_here(SMALLER, storage)
    return tables(storage, SMALLER)


@pytest.fixture(autouse=True)
def _garbage_of_ray_stays_here():
    """Ray drops processes without waiting for them; their warnings belong to no other test."""
    yield
    gc.collect()


class _Troubled:
    """Each of three searches meets one trouble, once, in the middle of a trial."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, settings, *, resume, save, keep):
        trouble = {("contrastive", 8): "death", ("proxy_anchor", 8): "memory"}.get(
            (settings.loss, settings.embedding_dim), "silence"
        )
        for report in simulated_trial(settings, resume=resume, save=save):
            if report.epoch == 2 and self._is_first(trouble):
                if trouble == "death":
                    os.kill(os.getpid(), signal.SIGKILL)
                if trouble == "memory":
                    raise MemoryError("too much")
                time.sleep(600)
            yield report

    def _is_first(self, trouble: str) -> bool:
        try:
            (self._folder / trouble).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def test_trials_that_die_fall_silent_or_need_a_node_to_themselves_are_run_again(
    tmp_path, tables_without_ray, monkeypatch
):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # where workers find the simulated training
    monkeypatch.chdir(tmp_path)
    relative = Path("results")  # workers run in another folder, and must not take it for theirs
    executor = RayTuneExecutor(demand_of(SMALLER), trial=_Troubled(tmp_path))
    study = replace(SMALLER, resources=ResourceSettings(stuck_minutes=0.1))
    end = run_here(study, relative, executor)
    assert end.progress.failed == 0
    assert_frame_equal(tables(relative, SMALLER), tables_without_ray)
    lost = {
        (attempt.cause, attempt.reports)
        for attempt in read_attempts(StudyPaths(relative / SMALLER.name))
        if attempt.cause not in ("complete", "stopped")
    }
    assert lost == {("lost_worker", 1), ("out_of_host_memory", 1), ("stuck", 1)}
    alone = {
        attempt.cpus
        for attempt in read_attempts(StudyPaths(relative / SMALLER.name))
        if attempt.cpus != 1.0
    }
    assert alone == ({float(psutil.cpu_count())} if psutil.cpu_count() > 1 else set())
