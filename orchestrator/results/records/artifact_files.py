"""Artifacts of trials: files of weights and of test embeddings, one per fold.

They are written before the row of their trial is committed, so a committed trial has them unless
the study keeps none; a trial that runs again writes the same bytes again.
"""

from podium.errors import PodiumError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import list_files
from podium.orchestrator.results.storage.locations import Place

_SUFFIX = ".safetensors"


def model_files(paths: StudyPaths, trial_id: str) -> dict[int, Place]:
    """The files of weights of a trial by fold; empty if it left none."""
    return _files(paths.models, trial_id)


def embedding_files(paths: StudyPaths, trial_id: str) -> dict[int, Place]:
    """The files of test embeddings of a trial by fold; empty if it left none."""
    return _files(paths.embeddings, trial_id)


def file_of_fold(files: dict[int, Place], fold: int | None) -> Place:
    """The file of one fold, which must be named where there are several.

    Raises:
        PodiumError: there is no file of that fold, or there are several and none was named.
    """
    known = ", ".join(map(str, sorted(files)))
    if fold is None and len(files) > 1:
        raise PodiumError(f"the trial has several folds: choose one with --fold; known: {known}")
    chosen = min(files) if fold is None else fold
    if chosen not in files:
        raise PodiumError(f"the trial kept nothing of fold {chosen}; known: {known}")
    return files[chosen]


def _files(folder: Place, trial_id: str) -> dict[int, Place]:
    prefix = f"{trial_id}."
    folds = {
        file.name.removeprefix(prefix).removesuffix(_SUFFIX): file
        for file in list_files(folder, _SUFFIX)
        if file.name.startswith(prefix)
    }
    return {int(fold): path for fold, path in folds.items() if fold.isdigit()}
