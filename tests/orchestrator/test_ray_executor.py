"""Attacks on real runs through Ray. Training is simulated, everything around it is real."""

import gc
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import polars as pl
import psutil
import pytest
import ray
from polars.testing import assert_frame_equal

from orchestrator.executors.ray_tune import RayTuneExecutor
from orchestrator.results.attempts import count_attempts
from orchestrator.results.errors import PodiumError
from orchestrator.results.paths import StudyPaths
from orchestrator.study import FinalSettings, ResourceSettings
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import STUDY, rows, run_here, tables, with_search

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The same study, run in one process without Ray."""
    storage = tmp_path_factory.mktemp("undisturbed")
    run_here(STUDY, storage)
    return tables(storage)


@pytest.fixture(autouse=True)
def _garbage_of_ray_stays_here():
    """Ray drops processes without waiting for them; their warnings belong to no other test."""
    yield
    gc.collect()


def drive(storage: Path, order: str = "deterministic") -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.orchestrator.drive_small_study", str(storage), order],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def num_committed(storage: Path) -> int:
    return len(list(storage.rglob("trials/**/*.parquet")))


def wait_for_commits(storage: Path, count: int, driver: subprocess.Popen) -> None:
    deadline = time.monotonic() + 120
    while num_committed(storage) < count:
        assert driver.poll() is None, driver.stdout.read()
        assert time.monotonic() < deadline, "no progress"
        time.sleep(0.02)


def kill_tree(process: subprocess.Popen) -> None:
    """SIGKILL the driver, then make sure its cluster is gone before the next one starts."""
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    psutil.wait_procs(children, timeout=10)
    for child in children:
        if child.is_running():
            child.kill()


def test_ray_gives_the_same_tables_as_one_process(tmp_path, undisturbed, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # where workers find the simulated training
    monkeypatch.chdir(tmp_path)
    relative = Path("results")  # workers run in another folder, and must not take it for theirs
    run_here(STUDY, relative, RayTuneExecutor(ResourceSettings(), trial=simulated_trial))
    assert_frame_equal(tables(relative), undisturbed)
    paths = StudyPaths(tmp_path / "results" / STUDY.name)
    assert {count_attempts(paths, trial_id) for trial_id in rows(relative)["trial_id"]} == {1}
    assert rows(relative)["device"].null_count() == 0


def test_a_driver_killed_twice_ends_in_the_same_tables(tmp_path, undisturbed):
    for commits in (5, 25):
        driver = drive(tmp_path)
        wait_for_commits(tmp_path, commits, driver)
        kill_tree(driver)
    output, _ = drive(tmp_path).communicate(timeout=120)
    assert "finished" in output
    assert_frame_equal(tables(tmp_path), undisturbed)


def test_an_asynchronous_run_killed_keeps_every_committed_trial_and_its_counts(tmp_path):
    driver = drive(tmp_path, "asynchronous")
    wait_for_commits(tmp_path, 12, driver)
    kill_tree(driver)
    study = with_search(order="asynchronous")
    before = tables(tmp_path, study)
    output, _ = drive(tmp_path, "asynchronous").communicate(timeout=120)
    assert "finished" in output
    trials = rows(tmp_path, study)
    assert trials["trial_id"].n_unique() == len(trials)
    searches = trials.filter(pl.col("stage") == "search").group_by("search").len()
    assert searches["len"].to_list() == [study.search.trials] * 4
    after = tables(tmp_path, study)
    assert_frame_equal(
        after.filter(pl.col("trial_id").is_in(before["trial_id"].to_list())), before
    )


class _DiesOnce:
    """The worker that meets this trial first is killed in the middle of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, settings, *, resume, save, keep):
        for report in simulated_trial(settings, resume=resume, save=save):
            mark = self._folder / "died"
            if settings.loss == "contrastive" and report.epoch == 2 and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield report


def test_a_trial_whose_worker_dies_is_run_again_and_is_no_failure(tmp_path, undisturbed):
    executor = RayTuneExecutor(ResourceSettings(), trial=_DiesOnce(tmp_path))
    run_here(STUDY, tmp_path, executor)
    assert (tmp_path / "died").exists()
    assert_frame_equal(tables(tmp_path), undisturbed)
    attempts = rows(tmp_path)["attempts"]
    assert sorted(attempts.unique()) == [1, 2]


class _AlwaysDies:
    def __call__(self, settings, *, resume, save, keep):
        if settings.loss == "proxy_anchor":
            os.kill(os.getpid(), signal.SIGKILL)
        yield from simulated_trial(settings, resume=resume, save=save)


def test_a_trial_that_always_kills_its_worker_fails_after_three_attempts(tmp_path):
    study = replace(
        with_search(trials=1), embedding_dims=(8,), final=FinalSettings(seeds=1), name="deadly"
    )
    end = run_here(study, tmp_path, RayTuneExecutor(ResourceSettings(), trial=_AlwaysDies()))
    failed = rows(tmp_path, study).filter(pl.col("state") == "FAILED")
    assert end.progress.failed == len(failed) == 2  # the default in search and in the final stage
    assert set(failed["cause"]) == {"lost"}
    paths = StudyPaths(tmp_path / study.name)
    assert [count_attempts(paths, trial_id) for trial_id in failed["trial_id"]] == [3, 3]
    assert (
        rows(tmp_path, study).filter(pl.col("loss") == "contrastive")["state"].unique()[0]
        == "COMPLETE"
    )


@pytest.mark.parametrize("kind", ["cpus", "gpus"])
def test_what_a_machine_cannot_give_is_told_and_not_waited_for(tmp_path, kind):
    resources = ResourceSettings(**{f"{kind}_per_trial": 1000})
    with pytest.raises(
        PodiumError, match=rf"(?i){kind}_per_trial is 1000, but Ray finds \d+ {kind}"
    ):
        run_here(STUDY, tmp_path, RayTuneExecutor(resources, trial=simulated_trial))
    assert not ray.is_initialized()
