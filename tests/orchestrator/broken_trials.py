"""Trials that fail until what they fail for is fixed, and studies of them."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace

import polars as pl

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.run.run_study import RunEnd
from podium.orchestrator.study.study import EarlyStopping, FinalSettings, KeepSettings, Study
from podium.orchestrator.verify.verify_store import verify_store
from podium.trainables.errors import Diverged
from podium.trainables.settings.trial_settings import BASELINES, TrialSettings
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import run_here, with_search

# One block, 2 losses: 6 trials each by TPE, 2 seeds of the default and the winner.
FRAIL = replace(
    with_search(sampler="tpe", trials=6, lag=2, early_stopping=EarlyStopping(kind="none")),
    name="frail",
    embedding_dims=(8,),
    final=FinalSettings(seeds=2),
    keep=KeepSettings(models=False, embeddings=False),  # simulated trials have none
)


class Broken:
    """The simulated trial, which diverges after its first epoch where ``fails`` says so."""

    def __init__(self, fails: Callable[[TrialSettings], bool], error: type[Exception] = Diverged):
        self._fails = fails
        self._error = error

    def __call__(self, settings, *, resume, save, keep=None):
        for report in simulated_trial(settings, resume=resume, save=save):
            yield report
            if self._fails(settings):
                message = f"the file of {settings.loss} is not there"
                raise (
                    self._error(message, 0, 1) if self._error is Diverged else self._error(message)
                )


def draws_short_straw(settings: TrialSettings) -> bool:
    """A third of all configs of a loss, in search and final stage alike; baselines never."""
    if settings.loss in BASELINES:
        return False
    text = json.dumps([settings.loss, dict(settings.hyperparameters)], sort_keys=True)
    return hashlib.sha256(text.encode()).digest()[3] % 3 == 0


def run_broken(
    storage, study: Study = FRAIL, fails=draws_short_straw, executor=None, **options
) -> RunEnd:
    """Run a study of which some trials fail."""
    end = run_here(study, storage, executor or InProcessExecutor(Broken(fails)), **options)
    assert end.progress.failed
    return end


def run_fixed(storage, study: Study = FRAIL, causes=(), **options) -> RunEnd:
    """Run it again after the fix, and retry what failed; ``causes=None`` retries nothing."""
    return run_here(study, storage, retried_causes=causes, **options)


def all_columns(storage, study: Study = FRAIL) -> pl.DataFrame:
    """Every trial with every column, times and costs included."""
    paths = StudyPaths(storage / study.name)
    Reader(paths.folder).trials().collect()  # verifies the files
    return (
        pl.read_parquet(sorted(paths.folder.rglob("*.parquet")))
        .unique("trial_id")
        .sort("trial_id")
    )


def assert_sound(storage, study: Study = FRAIL) -> None:
    """`podium verify` finds nothing."""
    found = verify_store(storage / study.name)
    assert [*found.problems, *found.notes] == []
