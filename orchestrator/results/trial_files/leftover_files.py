"""Deletes what killed processes left behind.

That is half-written files, and checkpoints of trials that were committed just before the kill.
"""

from orchestrator.results.records import checkpoint_files as checkpoints
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import list_folders, remove_temporaries
from orchestrator.results.trial_files.compaction_manifest import take_inventory

__all__ = ["remove_all_leftovers"]


def remove_all_leftovers(paths: StudyPaths) -> None:
    """Leave nothing that a finished study does not need; for when it has no workers any more.

    Callers hold the study's lock. What is left of writing that is for the lock itself to delete.
    """
    inventory = take_inventory(paths)
    for folder in list_folders(paths.checkpoints):
        if folder.name in inventory.loose or folder.name in inventory.manifest.trials:
            checkpoints.delete(paths, folder.name)
    for of_many in (paths.trials, paths.asks, paths.attempts):
        for folder in list_folders(of_many):
            remove_temporaries(folder)
    for folder in (paths.models, paths.embeddings, paths.runs):
        remove_temporaries(folder)
    for file in (paths.store, paths.study, paths.provenance, paths.report):
        remove_temporaries(paths.folder, file.name)
