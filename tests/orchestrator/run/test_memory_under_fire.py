"""Trials that run out of memory: tried again alone, once, and to the same numbers."""

from itertools import pairwise

import pytest
from polars.testing import assert_frame_equal

from podium.orchestrator.study.resource_demand import Capacity, Demand
from tests.orchestrator.scripted import (
    TINY,
    ScriptedExecutor,
    attempts_at,
    failed,
    is_default,
    lost_at,
    run_tiny,
)
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import rows, tables


class OutOfMemoryError(RuntimeError):
    """As torch names it."""


class Greedy:
    """A trial of one loss that needs more than it is given, in the second epoch."""

    def __init__(self, error, *, while_sharing):
        self._error = error
        self._while_sharing = while_sharing
        self.alone = True

    def __call__(self, settings, *, resume, save, keep):
        for report in simulated_trial(settings, resume=resume, save=save):
            is_greedy = settings.loss == "proxy_anchor" and report.epoch == 2
            if is_greedy and not (self._while_sharing and self.alone):
                raise self._error
            yield report


def shares_of(executor, trial_id):
    return [job.demand for job in executor.jobs if job.trial_id == trial_id]


SHARED_GPU = Capacity(cpus=4.0, gpus=1.0, nodes=(Demand(cpus=4.0, gpus=1.0),))


@pytest.mark.parametrize(
    ("error", "alone"),
    [
        (OutOfMemoryError("CUDA out of memory"), Demand(cpus=1.0, gpus=1.0)),
        (MemoryError("too much"), Demand(cpus=4.0, gpus=0.25)),
    ],
)
def test_memory_that_runs_out_is_retried_alone_and_to_the_same_numbers(
    tmp_path, undisturbed_tiny, error, alone
):
    greedy = Greedy(error, while_sharing=True)

    def look(scheduler, jobs):
        greedy.alone = len(jobs) == 1

    executor = ScriptedExecutor(capacity=SHARED_GPU, trial=greedy, at_step=look)
    end = run_tiny(tmp_path, executor, gpus_per_trial=0.25)
    assert end.progress.failed == 0
    assert_frame_equal(tables(tmp_path, TINY).drop("settings"), undisturbed_tiny.drop("settings"))
    again = [job for job in executor.jobs if job.demand == alone]
    assert again
    for job in again:
        assert job.attempt == 2
        assert all(len(jobs) == 1 for jobs in executor.together if job in jobs)
        first = attempts_at(tmp_path, job.trial_id)[0]
        assert (first.reports, first.gpus) == (1, 0.25)


def test_a_trial_that_is_alone_and_out_of_memory_fails_with_its_peak(tmp_path):
    greedy = Greedy(MemoryError("too much"), while_sharing=False)
    executor = ScriptedExecutor(capacity=SHARED_GPU, trial=greedy)
    run_tiny(tmp_path, executor, gpus_per_trial=0.25)
    trials = failed(tmp_path)
    assert set(trials["cause"]) == {"out_of_memory"}
    assert set(trials["loss"]) == {"proxy_anchor"}
    assert set(trials["attempts"]) == {2}
    assert trials["peak_memory_mb"].min() > 100.0  # more than the epoch before had reported
    assert (
        trials["message"]
        .str.contains(r"^ran out of memory alone on its node: it held \d+\.\d GiB; too much$")
        .all()
    )
    for trial_id in trials["trial_id"]:
        demands = [(demand.cpus, demand.gpus) for demand in shares_of(executor, trial_id)]
        assert demands == [(1.0, 0.25), (4.0, 0.25)]


def test_nothing_takes_the_room_that_a_trial_waits_for_on_several_nodes(tmp_path):
    node = Demand(cpus=2.0, gpus=0.0)
    two_nodes = Capacity(cpus=4.0, gpus=0.0, nodes=(node, node))
    fate = lost_at("killed_for_memory", 1, attempts=range(1, 2), which=is_default)

    def has_room(job):  # as on a cluster: all of one node must be free
        others = [other for other in executor.together[-1] if other != job]
        return job.demand != node or len(others) <= 1

    executor = ScriptedExecutor(fate, two_nodes, begins=has_room)
    end = run_tiny(tmp_path, executor)
    assert end.progress.failed == 0
    alone = next(job for job in executor.jobs if job.demand == node)
    beside = [jobs for jobs in executor.together if alone in jobs]
    began = next(index for index, jobs in enumerate(beside) if len(jobs) <= 2)
    assert began > 0  # it had to wait
    waiting = [{job.trial_id for job in jobs} for jobs in beside[: began + 1]]
    assert all(later <= sooner for sooner, later in pairwise(waiting))


def test_what_waits_for_a_node_that_is_gone_is_placed_anew(tmp_path):
    small, large = Demand(cpus=2.0, gpus=0.0), Demand(cpus=4.0, gpus=0.0)
    fate = lost_at("killed_for_memory", 1, attempts=range(1, 2), which=is_default)
    executor = ScriptedExecutor(
        fate, Capacity(cpus=6.0, gpus=0.0, nodes=(small, large)), begins=lambda job: not waits(job)
    )

    def waits(job):
        if job.demand.cpus == large.cpus:
            executor.set_capacity(Capacity(cpus=2.0, gpus=0.0, nodes=(small,)))
        return job.demand.cpus == large.cpus

    end = run_tiny(tmp_path, executor)
    assert end.progress.failed == 0
    assert "lost_node 1" in end.progress.retries
    demands = {job.demand.cpus for job in executor.jobs}
    assert demands == {1.0, 2.0, 4.0}
    assert rows(tmp_path, TINY)["attempts"].max() == 2  # to wait is no try
