"""Checkpoints: the state of a running trial, replaced whole."""

from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import put, read_bytes, remove, remove_folder
from podium.orchestrator.results.storage.locations import RemotePath


def save(paths: StudyPaths, trial_id: str, state: bytes) -> None:
    """Replace the checkpoint of a trial; a kill meanwhile leaves the earlier one."""
    put(paths.checkpoint(trial_id), state)


def load(paths: StudyPaths, trial_id: str) -> bytes | None:
    """The last checkpoint of a trial; None if it has none."""
    return read_bytes(paths.checkpoint(trial_id))


def delete(paths: StudyPaths, trial_id: str) -> None:
    """Delete a trial's checkpoint; nothing happens if it has none."""
    if isinstance(paths.folder, RemotePath):
        remove(paths.checkpoint(trial_id))
    else:
        remove_folder(paths.checkpoint_folder(trial_id))
