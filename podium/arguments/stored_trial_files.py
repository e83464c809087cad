"""The files that a trial left in its results folder, or what to tell a user if there are none."""

from collections.abc import Callable
from pathlib import Path

from orchestrator.results.errors import PodiumError
from orchestrator.results.records.artifact_files import embedding_files, file_of_fold, model_files
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.local_copies import local_copy
from orchestrator.results.storage.locations import Place
from podium.arguments.trial_argument import StoredTrial

__all__ = ["embeddings_of", "model_of", "models_of", "refuse_existing"]


def model_of(trial: StoredTrial, fold: int | None) -> Path:
    """The weights of one fold.

    Args:
        trial: a final trial.
        fold: which; None if it has only one.

    Raises:
        PodiumError: the trial left no weights, or not of this fold.
    """
    files = _first(trial, model_files)
    if files:
        return local_copy(file_of_fold(files, fold))
    row = trial.row
    if row["stage"] != "final":
        raise PodiumError(
            f"trial {trial.trial_id} is of the stage {row['stage']}; only final trials leave "
            "their weights (`podium trials` shows the stages)"
        )
    if row["state"] != "COMPLETE":
        raise PodiumError(f"trial {trial.trial_id} left no weights: its state is {row['state']}")
    raise PodiumError(
        f"trial {trial.trial_id} has no weights in {trial.folder}: they were deleted, or "
        "keep.models was off when it ran"
    )


def models_of(trial: StoredTrial) -> dict[int, Path]:
    """The files of weights by fold; empty if there are none."""
    return _here(_first(trial, model_files))


def embeddings_of(trial: StoredTrial) -> dict[int, Path]:
    """The files of test embeddings by fold; empty if there are none."""
    return _here(_first(trial, embedding_files))


def _here(files: dict[int, Place]) -> dict[int, Path]:
    return {fold: local_copy(file) for fold, file in files.items()}


def _first(
    trial: StoredTrial, files_in: Callable[[StudyPaths, str], dict[int, Place]]
) -> dict[int, Place]:
    """From the first study that kept them: wherever a trial ran, it is the same."""
    found = (files_in(StudyPaths(folder), trial.trained_as) for folder in trial.folders)
    return next((files for files in found if files), {})


def refuse_existing(output: Path) -> None:
    """Raise PodiumError if something of that name is there, or its folder is not."""
    if output.exists():
        raise PodiumError(f"{output} exists already and is not overwritten")
    if not output.parent.is_dir():
        raise PodiumError(f"--output must be in a folder that exists; got {output}")
