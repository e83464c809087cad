"""A small study of heads on frozen features whose searches are trained as populations."""

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.executors.job_groups import job_groups
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.run.run_study import RunEnd
from podium.orchestrator.scheduling.executor_interface import Loss, NoJob, Scheduler
from podium.orchestrator.study.resource_demand import Capacity
from podium.orchestrator.study.study import Study
from podium.orchestrator.trials.specification import TrialJob
from podium.orchestrator.worker.slot_worker import SlotWorker
from podium.orchestrator.worker.worker import train
from tests.orchestrator.small_study import run_here
from tests.orchestrator.study_files import load

TEXT = """\
study: heads
datasets: [{name: glyphs, classes: 24, instances_per_class: 8}]
backbones: [conv_small]
embedding_dims: [8]
losses: [multi_similarity, proxy_anchor]
protocol: {kind: kfold, folds: 2}
search: {trials: 8, sampler: random, population: 4, early_stopping: none}
final: {seeds: 1}
training: {mode: frozen_features, epochs: 3, batch_size: 16}
"""


def study_in(folder: Path, *overrides: str) -> Study:
    folder.mkdir(exist_ok=True)
    return load(folder, TEXT, *overrides)


def run(study: Study, storage: Path, executor: InProcessExecutor | None = None) -> RunEnd:
    return run_here(study, storage, executor or InProcessExecutor(train))


def trials_in(storage: Path) -> pl.DataFrame:
    return Reader(storage / "heads").trials().collect().sort("trial_id")


def searched(storage: Path) -> pl.DataFrame:
    trials = trials_in(storage)
    return trials.filter(trials["stage"] == "search")


def assert_like_alone(together: pl.DataFrame, alone: pl.DataFrame) -> None:
    """Members are the trials that they would be alone, up to one query of 96."""
    assert together["trial_id"].to_list() == alone["trial_id"].to_list()
    off = (together["objective"] - alone["objective"]).abs()
    assert off.max() <= 1 / 48
    assert (off < 1e-9).mean() >= 0.9


Fate = Callable[[Sequence[str], int], Loss | None]


class MortalSlot(InProcessExecutor):
    """One slot, whose process dies on cue with all that it trains.

    Args:
        fate: asked before each step with the ids of the trials that are left; a loss kills them.
        capacity: what there is.

    Attributes:
        groups: ids of the trials that began together.
    """

    def __init__(self, fate: Fate, capacity: Capacity | None = None) -> None:
        super().__init__(train)
        self._fate, self._capacity = fate, capacity
        self.groups: list[tuple[str, ...]] = []

    def capacity(self) -> Capacity:
        return self._capacity or super().capacity()

    def run(self, scheduler: Scheduler) -> None:
        groups = job_groups(lambda: scheduler.next_job(self.capacity()))
        while not scheduler.is_stopping:
            jobs = next(groups)
            if isinstance(jobs, NoJob):
                assert jobs is NoJob.FINISHED
                return
            self.groups.append(tuple(job.trial_id for job in jobs))
            scheduler.trials_started(self.groups[-1])
            self._run(scheduler, jobs)

    def _run(self, scheduler: Scheduler, jobs: Sequence[TrialJob]) -> None:
        worker, step = SlotWorker(train), 0
        worker.start(jobs)
        while worker.trials and not scheduler.is_stopping:
            loss = self._fate(tuple(worker.trials), step)
            if loss is not None:  # the process says no more
                for trial_id in tuple(worker.trials):
                    scheduler.trial_lost(trial_id, loss)
                return
            for trial_id, messages in worker.step().items():
                if not scheduler.receive(trial_id, messages):
                    worker.drop(trial_id)
            step += 1
        worker.stop()
