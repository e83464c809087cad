"""The studies of a storage at a glance: state, trials, size, hours and last change of each.

A study is known by the names of its files and its few records; no loss or data set of it is
needed. Trials are read only where rows lie in two files, and then their ids alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Literal

from podium.errors import CorruptFileError, PodiumError, UnreachableError
from podium.orchestrator.results.locks.study_lock import LockOwner, is_dead, lock_owner, machine_id
from podium.orchestrator.results.records.journal import read_journals
from podium.orchestrator.results.records.runs import Run, read_runs
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_store, read_study
from podium.orchestrator.results.storage.files import each, exists, list_studies, stored_files
from podium.orchestrator.results.storage.locations import Place, StoredFile
from podium.orchestrator.results.trial_files.inventory import needed_files, num_trials
from podium.orchestrator.study.blocks import (
    SECONDS_PER_HOUR,
    num_reserved_trials,
    searches,
    with_trials_per_search,
)
from podium.orchestrator.study.resolved_study import study_from_resolved
from podium.orchestrator.study.study import Study

State = Literal[
    "planned",
    "running",
    "stopped",
    "complete",
    "some failed",
    "out of budget",
    "damaged",
    "unreadable",
    "not podium's",
]

ENDED: tuple[State, ...] = ("complete", "some failed")
"""States of a study of which nothing is left to run."""

# Another machine's lock that did not change for so long is that of a run which was killed. Its
# heartbeat is written every few seconds; the rest is for clocks that disagree.
_SILENT = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStudy:
    """A folder of a storage; what cannot be read is None.

    Attributes:
        folder: the folder; its name is that of the study.
        state: what became of the study so far, or why the folder cannot be read.
        trials: number of committed trials of all stages.
        planned: number of trials that the study plans, at most.
        failed: number of trials that failed and were not retried.
        gpu_hours: GPU-hours of all runs.
        trial_hours: hours of all attempts at trials.
        changed_at: last change of a file; None without files too.
        running_on: name of the machine on which the study is running; None if it is not.
        problem: why the folder cannot be read; None if it can.
    """

    folder: Place
    state: State
    trials: int | None = None
    planned: int | None = None
    failed: int | None = None
    gpu_hours: float | None = None
    trial_hours: float | None = None
    num_bytes: int | None = None
    changed_at: datetime | None = None
    running_on: str | None = None
    problem: str | None = None


def stored_studies(storage: Place) -> list[StoredStudy]:
    """All folders of a storage by name, hidden ones left out; of a results folder itself alone.

    Raises:
        PodiumError: there is no such folder, or nothing in it.
        UnreachableError: the store does not answer.
    """
    if exists(StudyPaths(storage).store):
        return [stored_study(storage)]
    folders = [folder for folder in list_studies(storage) if not folder.name.startswith(".")]
    if not folders:
        raise PodiumError(f"there are no studies in {storage}: no folder is in there")
    return list(each(stored_study, folders))


def stored_study(folder: Place) -> StoredStudy:
    """What a folder holds; what cannot be read is a state, not an error.

    Raises:
        UnreachableError: the store does not answer.
    """
    paths = StudyPaths(folder)
    found = StoredStudy(folder=folder, state="not podium's", problem="it has no store.json")
    try:
        if not exists(paths.store):
            return found
        files = stored_files(folder)
        changed_at = max((file.changed_at for file in files), default=None)
        num_bytes = sum(file.num_bytes for file in files)
        found = replace(found, num_bytes=num_bytes, changed_at=changed_at)
        return _read(found, paths, files)
    except UnreachableError:
        raise
    except PodiumError as error:
        state: State = "damaged" if isinstance(error, CorruptFileError) else "unreadable"
        return replace(found, state=state, problem=str(error))


def _read(found: StoredStudy, paths: StudyPaths, files: Sequence[StoredFile]) -> StoredStudy:
    """A folder of podium's with all that its records and the names of its files say."""
    read_store(paths)
    runs, resolved = read_runs(paths), read_study(paths)
    spent = [spent for run in runs for spent in run.spent]
    rows = [it.path for it in files if it.path.startswith("trials/")]
    needed = needed_files([paths.folder / it for it in rows if it.endswith(".parquet")])
    trials = num_trials(chain.from_iterable(needed.values()))
    planned = 0 if resolved is None else planned_trials(study_from_resolved(resolved))
    # Attempts that became rows of failed trials, minus those whose rows were withdrawn since.
    failed = sum(it.tries for it in spent if it.use == "failed")
    if failed:
        failed = max(0, failed - sum(len(it.retried) for it in read_journals(paths).values()))
    owner = running_owner(paths, [it.changed_at for it in files if it.path.startswith("lock/")])
    state: State = "running" if owner else ended_state(runs, trials, failed)
    return replace(
        found,
        state=state,
        trials=trials,
        # Finals are fewer than planned where the published default wins its search.
        planned=trials if state in ENDED else planned,
        failed=failed,
        gpu_hours=sum(it.gpu_seconds for it in spent) / SECONDS_PER_HOUR,
        trial_hours=sum(it.seconds for it in spent) / SECONDS_PER_HOUR,
        running_on=owner.host if owner else None,
        problem=None,
    )


def ended_state(runs: Sequence[Run], trials: int, failed: int) -> State:
    """What became of a study that is not running, with so many committed and failed trials."""
    if not runs:
        return "stopped" if trials else "planned"
    if runs[-1].end == "budget":
        return "out of budget"
    if runs[-1].end != "finished":
        return "stopped"
    return "some failed" if failed else "complete"


def planned_trials(study: Study) -> int:
    """Number of trials of all stages that a study plans, at most."""
    study = with_trials_per_search(study)
    return len(searches(study)) * study.search.trials + num_reserved_trials(study)


def running_owner(paths: StudyPaths, changes: Sequence[datetime]) -> LockOwner | None:
    """Who is running the study, as far as it can be seen without waiting.

    Args:
        paths: results folder of the study.
        changes: when files that its runs keep writing changed last.
    """
    if not changes:
        return None
    is_silent = datetime.now(UTC) - max(changes) > _SILENT
    owner = lock_owner(paths)
    if owner is None or is_dead(owner) or (is_silent and owner.machine != machine_id()):
        return None
    return owner
