"""Studies whose searches ask for the same finals, and ways to run them."""

from dataclasses import replace

import polars as pl

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.study.study import (
    EarlyStopping,
    FinalSettings,
    SearchSettings,
    StudyLoss,
    StudyTraining,
)
from podium.trainables.settings.trial_settings import ProtocolSettings
from tests.orchestrator.planted import PlantedTrial, hashed
from tests.orchestrator.results.store_rows import check_store
from tests.orchestrator.small_study import STUDY, rows, run_here

EPOCHS, FOLDS, SEEDS = 4, 2, 1
KFOLD = ProtocolSettings(kind="kfold", val_fraction=None, folds=FOLDS)
PROTOCOLS = (
    ProtocolSettings(kind="fixed", name="ours", val_fraction=0.25),
    ProtocolSettings(kind="random_splits", val_fraction=0.25),
    ProtocolSettings(kind="kfold", val_fraction=None, folds=2),
)
CROSSED = replace(
    STUDY,
    name="shared",
    embedding_dims=(8,),
    losses=(StudyLoss("contrastive"),),
    protocols=PROTOCOLS,
    search=SearchSettings(
        sampler="random",
        shared_configs=True,
        trials=4,
        early_stopping=EarlyStopping(kind="none"),
        order="deterministic",
        repeats=2,
        splits="fresh",
    ),
    final=FinalSettings(seeds=SEEDS, protocol=KFOLD, train_on=("part", "all")),
    training=StudyTraining(overrides={"epochs": EPOCHS}),
)
SMALL = replace(
    CROSSED,
    protocols=PROTOCOLS[:2],
    search=replace(CROSSED.search, repeats=1, splits="same"),
    final=replace(CROSSED.final, seeds=1),
)


class Counting(PlantedTrial):
    """Notes what is really trained."""

    def __init__(self):
        super().__init__(hashed)
        self.ran = []

    def __call__(self, settings, *, resume, save, keep=None):
        if resume is None:
            self.ran.append(settings)
        yield from super().__call__(settings, resume=resume, save=save, keep=keep)


def run_planted(study, storage, trial=None):
    end = run_here(study, storage, InProcessExecutor(trial or PlantedTrial(hashed)))
    assert not end.interrupted
    assert end.progress.trials_done == end.progress.trials_planned
    check_store(StudyPaths(storage / study.name))
    return storage


def finals_of(storage, study=CROSSED):
    return rows(storage, study).filter(pl.col("stage") == "final")


class Killed(BaseException):
    """As if the process were killed."""
