"""A study small enough for tests, and ways to run and read it."""

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import polars as pl

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.run.run_study import Console, RunEnd, run_study
from podium.orchestrator.scheduling.executor_interface import Scheduler
from podium.orchestrator.scheduling.study_scheduler import StudyScheduler
from podium.orchestrator.study.study import (
    EarlyStopping,
    FinalSettings,
    ResourceSettings,
    SearchSettings,
    Study,
    StudyLoss,
    StudyTraining,
)
from podium.search_spaces.parameters import Choice, Space
from podium.trainables.settings.trial_settings import (
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
)
from tests.orchestrator.simulated import simulated_trial

STUDY = Study(
    name="small",
    datasets=(DatasetSettings(name="glyphs", options={"script": "greek"}),),
    backbones=(BackboneSettings(name="conv_small"),),
    embedding_dims=(8, 16),
    losses=(StudyLoss("contrastive"), StudyLoss("proxy_anchor")),
    protocols=(ProtocolSettings(kind="fixed", val_fraction=0.25),),
    search=SearchSettings(
        trials=6,
        early_stopping=EarlyStopping(kind="asha", grace_epochs=1, reduction_factor=2),
        order="deterministic",
        lag=2,
    ),
    final=FinalSettings(seeds=2),
    training=StudyTraining(overrides={"epochs": 4}),
    resources=ResourceSettings(),
)

# What two undisturbed runs differ in: clocks, code versions, how often they were interrupted.
_VOLATILE = (
    "started_at",
    "ended_at",
    "seconds",
    "test_seconds",
    "attempts",
    "peak_memory_mb",
    "log",
    "git_commit",
)


# What samplers search that try all values.
LISTED = StudyLoss("contrastive", space=Space({"margin": Choice((0.1, 0.2, 0.4, 0.6, 0.9))}))


def with_search(**changes) -> Study:
    return replace(STUDY, search=replace(STUDY.search, **changes))


class InterruptedAfter(InProcessExecutor):
    """Stops the scheduler after so many steps, wherever the study then is."""

    def __init__(self, steps: int, trial=simulated_trial) -> None:
        super().__init__(trial)
        self._steps = steps

    def run(self, scheduler: Scheduler) -> None:
        assert isinstance(scheduler, StudyScheduler)
        receive = scheduler.receive

        def counting(trial_id, messages):
            self._steps -= 1
            if self._steps <= 0:
                scheduler.stop()
            return receive(trial_id, messages)

        scheduler.receive = counting
        super().run(scheduler)


def run_here(
    study: Study,
    storage: Path,
    executor: InProcessExecutor | None = None,
    clock: Callable[[], float] = time.monotonic,
    say: Callable[[str], object] = lambda line: None,
    retried_causes: Collection[str] | None = None,
) -> RunEnd:
    """Run a study in this process with simulated training."""

    return run_study(
        study,
        StudyPaths(storage / study.name),
        start_executor=lambda: executor or InProcessExecutor(simulated_trial),
        console=Console(say=say),
        trains_here=True,
        retried_causes=retried_causes,
        clock=clock,
    )


def tables(storage: Path, study: Study = STUDY) -> pl.DataFrame:
    """Every trial with all its details, in a fixed order, without what may differ."""
    files = sorted((storage / study.name).rglob("*.parquet"))
    return pl.read_parquet(files).unique("trial_id").drop(_VOLATILE).sort("trial_id")


def rows(storage: Path, study: Study = STUDY) -> pl.DataFrame:
    """The flat table of trials."""
    return Reader(storage / study.name).trials().collect()
