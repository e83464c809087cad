import math
from dataclasses import replace

import pytest

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.scheduling.executor_interface import NoJob
from podium.orchestrator.study.resource_demand import Capacity, Demand
from podium.orchestrator.study.study import ResourceSettings, StudyLoss
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import run_here, with_search

SHARED = replace(
    with_search(order="asynchronous", trials=2),
    embedding_dims=(8,),
    losses=(StudyLoss("contrastive"),),
    resources=ResourceSettings(cpus_per_trial=2.0, gpus_per_trial=0.75),
)


@pytest.mark.parametrize(
    ("cpus", "gpus", "max_trials", "expected"),
    [
        ((8.0, 8.0), (1.0, 1.0), None, 4),
        ((8.0, 8.0), (1.0, 0.9), None, 3),  # what is left on one adds nothing to the other
        ((8.0, 8.0), (1.0, 1.0), 3, 3),
        ((8.0, 0.0), (1.0, 8.0), None, 2),
        ((0.5, 0.5), (1.0, 1.0), 5, 1),
    ],
)
def test_there_are_as_many_worker_slots_as_fit_on_the_nodes_whatever_may_be_requested(
    cpus, gpus, max_trials, expected
):
    nodes = tuple(Demand(cpus=c, gpus=g) for c, g in zip(cpus, gpus, strict=True))
    cluster = Capacity(cpus=math.inf, gpus=math.inf, max_trials=max_trials, nodes=nodes)
    assert cluster.num_fitting(Demand(cpus=1.0, gpus=0.5)) == expected


class Taking(InProcessExecutor):
    """Takes jobs until there is none, then runs the study to its end one by one."""

    def __init__(self, capacity):
        super().__init__(simulated_trial)
        self.there = capacity
        self.taken = []

    def capacity(self):
        return self.there

    def run(self, scheduler):
        while not isinstance(job := scheduler.next_job(self.there), NoJob):
            self.taken.append(job)
        scheduler.stop()


def test_trials_run_together_only_as_far_as_their_demands_fit(tmp_path):
    executor = Taking(Capacity(cpus=100.0, gpus=1.5))
    run_here(SHARED, tmp_path, executor)
    assert [job.demand for job in executor.taken] == 2 * [Demand(cpus=2.0, gpus=0.75)]
    # Nothing that had been asked for and did not fit is forgotten.
    end = run_here(SHARED, tmp_path)
    assert end.progress.trials_done == end.progress.trials_planned
