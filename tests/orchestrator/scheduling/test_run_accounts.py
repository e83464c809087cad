import os
import shutil
import signal
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import CorruptFileError, StoreError
from podium.live.followed_study import FollowedStudy
from podium.orchestrator.results.records.runs import read_runs
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.scheduling import run_accounting
from podium.orchestrator.scheduling.resource_usage import Spending
from podium.orchestrator.scheduling.run_accounting import RunAccount
from podium.orchestrator.study.blocks import searches
from podium.orchestrator.study.resource_demand import Demand
from podium.orchestrator.study.study import BudgetSettings
from tests.object_store import proxied
from tests.orchestrator.results.store_rows import new_store
from tests.orchestrator.run.test_budgets import MANY, alike, run, with_budget
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import STUDY, InterruptedAfter, rows, run_here
from tests.podium.warm_process import Started

HOUR = 3600.0


def runs_of(storage):
    return read_runs(StudyPaths(storage / STUDY.name))


def status_of(storage):
    return FollowedStudy(storage / STUDY.name).view()


def test_a_killed_run_leaves_what_it_had_spent_but_for_moments(tmp_path):
    study = with_budget(gpu_hours=1.0)
    driver = Started(tmp_path, module="tests.orchestrator.drive_budget")
    deadline = time.monotonic() + 60
    while not (runs := runs_of(tmp_path)) or runs[0].seconds < 1.5:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    seen = time.monotonic()
    os.kill(driver.pid, signal.SIGKILL)
    driver.end()
    lost_at_most = time.monotonic() - seen + 1.0
    (killed,) = runs_of(tmp_path)
    assert killed.end is None
    assert killed.seconds >= runs[0].seconds
    spent = sum(one.seconds for one in killed.spent)
    # One trial at a time was busy nearly always, from the start to the last word.
    assert spent >= killed.seconds - 1.0
    gpu_hours = sum(use["gpu_hours"] for use in status_of(tmp_path).spent.values())
    assert gpu_hours == pytest.approx(0.5 * spent / HOUR)
    assert killed.seconds - runs[0].seconds <= lost_at_most
    end = run_here(study, tmp_path, InterruptedAfter(3))
    assert end.interrupted
    first, second = runs_of(tmp_path)
    assert first == killed
    assert second.end == "interrupted"
    (use,) = end.progress.budget
    assert use.used == pytest.approx(gpu_hours, abs=5.0 / HOUR)
    assert use.used >= gpu_hours


def test_what_an_error_ended_says_so(tmp_path):
    def failing(scheduler):
        raise CorruptFileError("the store is torn")

    with pytest.raises(CorruptFileError):
        run(with_budget(gpu_hours=0.2), tmp_path, watch=failing)
    (one,) = runs_of(tmp_path)
    assert one.end == "error"
    assert {spent.use for spent in one.spent} == {"unfinished"}


def test_a_finished_study_writes_no_further_run_and_is_not_paid_for_anew(tmp_path):
    study = replace(MANY, search=replace(MANY.search, trials=2))
    run(study, tmp_path)
    run(study, tmp_path)
    assert [one.end for one in runs_of(tmp_path)] == ["finished"]
    shutil.rmtree(tmp_path / STUDY.name / "runs")
    with pytest.raises(CorruptFileError, match="holds no account of a run, while"):
        run(study, tmp_path)


def test_status_and_accounts_tell_uses_limits_and_who_ended_early(tmp_path):
    study = replace(MANY, budget=BudgetSettings(gpu_hours=0.2, trials=500))
    run(study, tmp_path, alike)
    status = status_of(tmp_path)
    gpu_hours = sum(use["gpu_hours"] for use in status.spent.values())
    limits = [(use.what, use.limit) for use in status.progress.budget]
    assert limits == [("GPU-hours", 0.2), ("trials", 500)]
    cut_short = [it.done for it in status.progress.searches if it.is_cut_short]
    assert len(cut_short) == 2
    assert all(0 < had < 30 for had in cut_short)
    assert status.num_runs == 1
    (one,) = runs_of(tmp_path)
    assert sum(it.gpu_seconds for it in one.spent) == pytest.approx(gpu_hours * HOUR)
    assert sum(it.tries for it in one.spent) == rows(tmp_path).height
    assert len(one.ended_searches) == 2


def test_a_run_that_ends_because_the_store_is_away_waits_for_no_account(s3_service, monkeypatch):
    monkeypatch.setattr(run_accounting, "_REMOTE_WRITE_SECONDS", 0.1)
    said = []
    with proxied(s3_service) as (proxy, bucket):
        paths = new_store(bucket)
        account = RunAccount(STUDY, paths, Reader(paths.folder), said.append)
        with pytest.raises(StoreError, match="of the run"), account:  # noqa: PT012
            proxy.fault = lambda method, path: "reset"
            deadline = time.monotonic() + 20
            while not said:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            started = time.monotonic()
            raise StoreError("of the run")
        assert time.monotonic() - started < 30
    assert "the account of this run cannot be written" in said[0]


def test_the_account_says_what_runs_now_until_the_run_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(run_accounting, "_WRITE_SECONDS", 0.01)
    found = []

    def looking(settings, *, resume, save, keep=None):
        deadline = time.monotonic() + 20
        while not found and time.monotonic() < deadline:
            found.extend(run for run in read_runs(paths) if run.running)
            time.sleep(0.01)
        yield from simulated_trial(settings, resume=resume, save=save)

    paths = StudyPaths(tmp_path / STUDY.name)
    run_here(STUDY, tmp_path, InterruptedAfter(3, looking))
    (started,) = found[0].running
    assert (started.search, started.attempt) == (searches(STUDY)[0].id, 1)
    (ended,) = read_runs(paths)
    assert (ended.running, ended.seconds_left) == ((), None)


def test_what_no_worker_ever_had_is_no_try():
    spending = Spending(lambda: 5.0)
    for trial_id in ("lost in the queue", "in the queue", "in training", "done"):
        spending.start(trial_id, "s", "search", Demand(cpus=1.0, gpus=0.5), is_first=True)
    for trial_id in ("in training", "done"):
        spending.begin([trial_id])
    spending.end("lost in the queue", "repeated")
    spending.end("done", "complete")
    assert len(spending.running()) == 2
    assert {(on.use, spent.tries) for on, spent in spending.now().items()} == {
        ("complete", 1),
        ("unfinished", 1),
    }


def test_a_population_costs_its_slot_and_who_is_left_in_it_all_of_that():
    now = [0.0]
    spending = Spending(lambda: now[0])
    slot = Demand(cpus=4.0, gpus=0.5)
    for trial_id, search in (("a", "s"), ("b", "s"), ("c", "t")):
        part = slot.part(8)  # it is not full
        spending.start(trial_id, search, "search", part, is_first=True)
    spending.begin(["a", "b", "c"])
    now[0] = 30.0
    spending.end("a", "pruned")
    now[0] = 50.0
    spending.end("b", "complete")
    now[0] = 57.0
    spent = {(on.search, on.use): it for on, it in spending.now().items()}
    assert {key: it.seconds for key, it in spent.items()} == {
        ("s", "pruned"): pytest.approx(10.0),
        ("s", "complete"): pytest.approx(20.0),
        ("t", "unfinished"): pytest.approx(27.0),
    }
    assert sum(it.gpu_seconds for it in spent.values()) == pytest.approx(57.0 * 0.5)
    assert sum(it.cpu_seconds for it in spent.values()) == pytest.approx(57.0 * 4.0)


@given(dice=st.randoms(use_true_random=False), num_steps=st.integers(1, 60))
def test_gpu_seconds_are_at_any_time_the_sum_over_all_attempts(dice, num_steps):
    now = [0.0]
    spending = Spending(lambda: now[0])
    slots = (Demand(cpus=1.0, gpus=0.1), Demand(cpus=2.0, gpus=1.0), Demand(cpus=1.0, gpus=0.0))
    waiting, begun = [], []
    for number in range(num_steps):
        now[0] += dice.random()
        match dice.choice(["start", "begin", "message", "end"]):
            case "start":
                members, slot = dice.randint(1, 3), dice.choice(slots)
                waiting.append([f"{number}.{member}" for member in range(members)])
                for trial_id in waiting[-1]:
                    part = slot.part(members)
                    spending.start(trial_id, "s", "search", part, is_first=True)
            case "begin" if waiting:
                population = waiting.pop(dice.randrange(len(waiting)))
                spending.begin(population)
                begun += population
            case "message" if waiting and len(waiting[-1]) == 1:
                (trial_id,) = waiting.pop()
                spending.note_message(trial_id)
                begun.append(trial_id)
            case "end" if begun:
                spending.end(begun.pop(dice.randrange(len(begun))), "complete")
        by_attempt = sum(spent.gpu_seconds for spent in spending.now().values())
        assert spending.gpu_seconds() == pytest.approx(by_attempt)
