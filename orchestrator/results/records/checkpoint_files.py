"""Checkpoints: the state of a running trial, replaced whole."""

from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import (
    put,
    read_bytes,
    remove,
    remove_folder,
    remove_if_empty,
)


def save(paths: StudyPaths, trial_id: str, state: bytes) -> None:
    """Replace the checkpoint of a trial; a kill meanwhile leaves the earlier one."""
    put(paths.checkpoint(trial_id), state)


def load(paths: StudyPaths, trial_id: str) -> bytes | None:
    """The last checkpoint of a trial; None if it has none."""
    return read_bytes(paths.checkpoint(trial_id))


def set_aside(paths: StudyPaths, trial_id: str) -> None:
    """Rename a checkpoint that cannot be used to ``unusable.pt``; `delete` removes it too."""
    state = load(paths, trial_id)
    if state is not None:
        put(paths.checkpoint_folder(trial_id) / "unusable.pt", state)
        remove(paths.checkpoint(trial_id))


def delete(paths: StudyPaths, trial_id: str) -> None:
    """Delete a trial's checkpoint; nothing happens if it has none."""
    remove_folder(paths.checkpoint_folder(trial_id))


def delete_of_first_attempt(paths: StudyPaths, trial_id: str) -> None:
    """As `delete`, for a trial of one attempt, which set none aside: nothing is listed."""
    remove(paths.checkpoint(trial_id))
    remove_if_empty(paths.checkpoint_folder(trial_id))
