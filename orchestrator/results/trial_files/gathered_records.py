"""Gathers what searches leave in small files: their asks, and the attempts at their trials.

A file for each search takes the place of one for each ask and each attempt. It is whole before
these are deleted, and readers read both: so a process may be killed at any line, and nothing is
lost or counted twice. Callers hold the study's lock.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.results.records.asks import Ask, gather_asks, read_asks
from orchestrator.results.records.attempts import gather_attempts
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import (
    each,
    list_below,
    list_folders,
    list_names,
    remove_if_empty,
)
from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.compaction_manifest import Inventory


@dataclass(frozen=True, slots=True)
class SearchRecords:
    """What is to be gathered of a search.

    Attributes:
        asks: its asks so far, by index.
        trial_ids: trials of it that have rows, whose attempts are not gathered yet.
    """

    asks: Sequence[Ask]
    trial_ids: Sequence[str]


def gather_searches(
    paths: StudyPaths, searches: Mapping[str, SearchRecords], check: Callable[[], object]
) -> None:
    """Gather asks and attempts of searches, while workers run.

    Args:
        paths: paths of the results folder.
        searches: search id -> what is to be gathered of it.
        check: called again and again, and right before anything is replaced or deleted; what it
            raises ends it, and nothing is lost.
    """
    for search, records in searches.items():
        gather_asks(paths, search, records.asks, check)
        # The whole folder is not listed: as a rule most attempts there are of other searches.
        folders = [paths.attempt_folder(trial_id) for trial_id in records.trial_ids]
        files = [file for of_trial in each(_files_in, folders) for file in of_trial]
        gather_attempts(paths, search, files, may_run=True, check=check)


def gather_all(paths: StudyPaths, inventory: Inventory) -> None:
    """Gather all asks, and the attempts at all trials that have rows, once no worker is left.

    Args:
        paths: paths of the results folder.
        inventory: the trials that have rows.

    Raises:
        CorruptFileError: an ask or an attempt cannot be read, or an ask is missing.
    """
    for folder in list_folders(paths.asks):
        for search, asks in read_asks(paths, [folder.name]).items():
            gather_asks(paths, search, asks)
        remove_if_empty(folder)
    by_search: dict[str, list[Place]] = {}
    for file in list_below(paths.attempts, ".json"):
        search_of_file = inventory.search_of(file.parent.name)
        if search_of_file is not None:
            by_search.setdefault(search_of_file, []).append(file)
    for search, files in by_search.items():
        gather_attempts(paths, search, files, may_run=False)


def _files_in(folder: Place) -> list[Place]:
    return [folder / name for name in list_names(folder, ".json")]
