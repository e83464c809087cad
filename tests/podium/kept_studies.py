"""Three studies of one tiny, real trial: one keeps all, one no embeddings, one nothing."""

from dataclasses import replace

import polars as pl

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.study.study import KeepSettings
from podium.orchestrator.study_validation.load_study import load_study
from tests.orchestrator.small_study import run_here

DATASET = {"script": "greek", "classes": 24, "instances_per_class": 6}

STUDY = """
study: tiny
datasets: [{name: glyphs, script: greek, classes: 24, instances_per_class: 6}]
embedding_dims: [8]
losses: [contrastive]
protocol: {kind: fixed, val_fraction: 0.4}
search: {trials: 1, early_stopping: none}
final: {seeds: 1}
training: {epochs: 1, batch_size: 16}
"""

_KEPT = {
    "tiny": KeepSettings(),
    "without": KeepSettings(embeddings=False),
    "nothing": KeepSettings(models=False, embeddings=False),
}


def run_kept_studies(storage):
    """Leaves a results folder for each name of what is kept."""
    (storage / "study.yaml").write_text(STUDY)
    study = load_study(storage / "study.yaml", ())
    for name, keep in _KEPT.items():
        end = run_here(replace(study, name=name, keep=keep), storage, InProcessExecutor())
        assert end.progress.failed == 0
    (storage / "study.yaml").unlink()


def trial_of(storage, stage="final", study="tiny"):
    """The id of the first trial of a stage."""
    trials = Reader(storage / study).trials().filter(pl.col("stage") == stage)
    return trials.collect().row(0, named=True)["trial_id"]


def files_of(storage, trial_id, study="tiny"):
    """Where weights and embeddings of a trial are or would be."""
    paths = StudyPaths(storage / study)
    return paths.model(trial_id, 0), paths.test_embeddings(trial_id, 0)
