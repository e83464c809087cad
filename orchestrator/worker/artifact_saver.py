"""Puts what a tested fold leaves behind into the results folder, as far as the study keeps it."""

from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from typing import TYPE_CHECKING

from orchestrator.ids_and_seeds import NUMERICS_VERSION
from orchestrator.results.records.artifact_files import save_embeddings, save_model
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.trials.trial_spec import TrialJob

if TYPE_CHECKING:
    from trainables.trial.fold_artifacts import FoldArtifacts

__all__ = ["keeper"]


def keeper(paths: StudyPaths, job: TrialJob) -> "Callable[[FoldArtifacts], None] | None":
    """What `run_trial` is to call after each test; None: keep nothing."""
    if not job.keeps_model and not job.keeps_embeddings:
        return None

    def keep(artifacts: "FoldArtifacts") -> None:
        origin = _origin(job)
        if job.keeps_model:
            model = replace(artifacts.model, origin=origin)
            save_model(paths, job.trial_id, model.fold, model.to_bytes())
        if job.keeps_embeddings:
            embeddings = replace(artifacts.embeddings, origin=origin)
            save_embeddings(paths, job.trial_id, embeddings.fold, embeddings.to_bytes())

    return keep


def _origin(job: TrialJob) -> dict[str, str | int]:
    """No clocks and no machines: a trial that runs again leaves the same bytes."""
    return {
        "trial_id": job.trial_id,
        "podium_version": metadata.version("podium"),
        "torch_version": metadata.version("torch"),
        "numerics_version": NUMERICS_VERSION,
    }
