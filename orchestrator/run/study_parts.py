"""What a run of a part of a study has to mind that a run of the whole study has not."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial

from orchestrator.results.locks.study_lock import StudyLock, lock_owners
from orchestrator.results.locks.turns import turn
from orchestrator.results.records.runs import Part, latest_runs, read_runs
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_study
from orchestrator.run.study_code import refuse_changed_code
from orchestrator.study.blocks import blocks
from orchestrator.study.resolved_study import resolved_dict
from orchestrator.study.study import Study
from orchestrator.study.study_changes import compare
from podium.errors import LockHeldError, PodiumError

Turn = Callable[[], AbstractContextManager[object]]


def check_part(study: Study, part: Part) -> None:
    """Refuse a part that has no block.

    Raises:
        PodiumError: the study has fewer blocks than parts are asked for.
    """
    num_blocks = len(blocks(study))
    if part.of > num_blocks:
        raise PodiumError(
            f"a study has at most as many parts as blocks (data set x backbone x dimension x image"
            f" size); {study.name} has {num_blocks}, got part {part}"
        )


def turns_of(part: Part, paths: StudyPaths, say: Callable[[str], object]) -> Turn:
    """What a run enters to write what runs of other parts write too."""
    return nullcontext if part.is_whole else partial(turn, paths, say)


def refuse_changed(study: Study, paths: StudyPaths, lock: StudyLock) -> bool:
    """Refuse to add work while other parts run; they were planned without it.

    Args:
        study: the resolved study, which the results folder can hold.
        paths: its results folder.
        lock: the lock of the part.

    Returns:
        Whether other parts run, so that the snapshot stays as it is.

    Raises:
        LockHeldError: other parts run the study as it was before it grew, or before code changed
            that no trial was trained by.
    """
    others, snapshot = lock.others(), read_study(paths)
    if not others or snapshot is None:  # those who are there have not begun yet
        return False
    change = compare(snapshot, resolved_dict(study))
    differences = [str(item) for item in change.harmless] if change.adds_work else []
    differences += [str(item) for item in refuse_changed_code(study, paths)]
    if differences:
        part, owner = next(iter(others.items()))
        lines = "\n".join(f"  {item}" for item in differences)
        raise LockHeldError(
            f"{paths.folder} is locked: {owner} is running part {part} of this study as it was"
            f" before it was changed:\n{lines}\nWait until all its parts end, or undo the change"
        )
    return True


def parts_left(paths: StudyPaths, part: Part) -> str:
    """What has to be done before the study is complete, in a sentence; empty if it is.

    Args:
        paths: its results folder.
        part: the part that has just ended.
    """
    latest = {run.part: run.end for run in latest_runs(read_runs(paths))}
    left = [it for it in part.all if latest.get(it) != "finished"]
    running = {it: owner for it, owner in lock_owners(paths).items() if it in left}
    parts = [f"{it} ({running[it]})" if it in running else f"{it} (not running)" for it in left]
    return f"Not finished yet: part {', '.join(parts)}." if parts else ""
