"""Attempts at trials: where each ran and how it ended.

One JSON file an attempt; those at committed trials of a search are gathered in one. It is written
whole before the files of single attempts are deleted. A worker that was stopped meanwhile may
write its file once more: of two records of one attempt the gathered one counts, unless only the
other has an end.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from orchestrator.results.records.json_records import FileName, RecordKind
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    read_checksummed_of_many,
)
from orchestrator.results.storage.files import (
    each,
    exists,
    list_below,
    list_names,
    remove_all,
    remove_if_empty,
)
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt at a trial; the first has number 1.

    ``ended_at`` and ``cause`` are None while it runs, and stay so if the process of the run
    was killed with it. Times have a time zone and are informative only. What files of earlier
    versions do not hold is None.

    Attributes:
        cause: how it ended (`orchestrator.trials.failure_causes`).
        message: details of the cause, and of a checkpoint that could not be used.
        reports: epochs and tests that the trial had finished by then, in earlier attempts too.
        seconds: duration by a monotonic clock.
        cpus: CPUs that it occupied.
        gpus: GPUs that it occupied, a fraction where trials share one.
        peak_memory_mb: peak memory of its process in MB, as far as it could be measured.
        device_memory_mb: total memory in MB of the GPU it ran on; known of attempts that ended
            complete or out of memory.
        members: number of trials that began with it as one population, of the last one where
            memory or an error halved it; 1 of a trial alone.
    """

    trial_id: FileName
    number: int
    node: str
    pid: int
    device: str
    started_at: datetime
    ended_at: datetime | None
    cause: str | None
    message: str | None = None
    reports: int | None = None
    seconds: float | None = None
    cpus: float | None = None
    gpus: float | None = None
    peak_memory_mb: float | None = None
    device_memory_mb: float | None = None
    members: int | None = None


_KIND = RecordKind(
    make=Attempt,
    name="attempt",
    plural="attempts",
    title="attempt {0.number} at trial {0.trial_id}",
    place=lambda paths, it: paths.attempt(it.trial_id, it.number),
)


def write_attempt(paths: StudyPaths, attempt: Attempt) -> None:
    """Write an attempt: once when it starts, and again, over that, when it ends."""
    _KIND.write(paths, attempt)


def read_attempt(paths: StudyPaths, trial_id: str, number: int) -> Attempt | None:
    """One attempt; None if it was never written.

    Raises:
        CorruptFileError: the file is truncated, or is not the attempt its name says.
    """
    return read_attempt_file(paths, paths.attempt(trial_id, number))


def read_attempt_file(paths: StudyPaths, path: Place) -> Attempt | None:
    """The attempt in a file of `StudyPaths.attempts`; None if the file vanished.

    Raises:
        CorruptFileError: the file is truncated, or is not the attempt its name says.
    """
    return _attempt(paths, path, read_checksummed(path))


def read_attempts_of_trial(paths: StudyPaths, trial_id: str) -> tuple[Attempt, ...]:
    """Every attempt at one trial that has no row, in order.

    Those at a trial with a row may be gathered; they get files of their own again before its row
    is withdrawn (`release_attempts`).

    Raises:
        CorruptFileError: a file is truncated, or is not the attempt its name says.
    """
    count = len(list_names(paths.attempt_folder(trial_id), ".json"))
    found = (read_attempt(paths, trial_id, number) for number in range(1, count + 1))
    return tuple(filter(None, found))


def read_attempts(paths: StudyPaths) -> Iterator[Attempt]:
    """Every attempt of the study, trial by trial, each trial's in order.

    Raises:
        CorruptFileError: a file is truncated, or is not the attempt its name says.
    """
    # Listed first: they are deleted only after they were gathered.
    files = list_below(paths.attempts, ".json")
    loose = attempts_by_trial(_loose(paths, files))
    for attempts in _KIND.read_gathered(_gathered_files(paths)):
        for trial_id, them in attempts_by_trial(attempts).items():
            yield from merged_attempts(them, loose.pop(trial_id, ()))
    for them in loose.values():
        yield from merged_attempts(them)


def searches_with_attempts(paths: StudyPaths) -> list[str]:
    """Sorted ids of searches with gathered attempts."""
    return [file.stem for file in _gathered_files(paths)]


def read_gathered_attempts(paths: StudyPaths, search: str) -> list[Attempt]:
    """The attempts of a search that are gathered, each trial's in order; often none are.

    Raises:
        CorruptFileError: the file is truncated, was changed, or holds something else.
    """
    (attempts,) = _KIND.read_gathered([paths.gathered_attempts(search)])
    return attempts


def gather_attempts(
    paths: StudyPaths,
    search: str,
    files: Sequence[Place],
    *,
    may_run: bool,
    check: Callable[[], object] = lambda: None,
) -> None:
    """Put attempts at committed trials of a search into its one file.

    Files that cannot be read stay as they are: no number of a study depends on them, and
    ``podium verify`` names them.

    Args:
        paths: paths of the results folder, whose lock is held.
        search: id of the search.
        files: files of single attempts.
        may_run: whether workers may still run, which write the end of an attempt after its trial
            was committed, as when it was pruned. Attempts without an end stay as they are then.
        check: called right before anything is replaced or deleted; what it raises ends it, and
            nothing is lost.

    Raises:
        StoreError: the file cannot be written, or another process wrote it meanwhile.
    """
    found = each(partial(_sound_attempt, paths), files)
    loose = [it for it in found if it and (it.ended_at is not None or not may_run)]
    if not loose:
        return
    try:
        before = read_gathered_attempts(paths, search)
    except CorruptFileError:
        return
    check()
    write_gathered_attempts(paths, search, merged_attempts(before, loose), before)
    check()
    remove_all([_KIND.place(paths, attempt) for attempt in loose])
    for trial_id in dict.fromkeys(attempt.trial_id for attempt in loose):
        remove_if_empty(paths.attempt_folder(trial_id))


def write_gathered_attempts(
    paths: StudyPaths, search: str, attempts: Sequence[Attempt], replaced: Sequence[Attempt] = ()
) -> None:
    """Write attempts at trials of a search into its one file.

    Args:
        paths: paths of the results folder.
        search: id of the search.
        attempts: all that are gathered then, each trial's in order.
        replaced: those that the file held when it was read.

    Raises:
        StoreError: the file cannot be written, or holds others by now, which stay.
    """
    known = list(replaced)
    _KIND.write_gathered(
        paths, paths.gathered_attempts(search), attempts, lambda held: held == known
    )


def release_attempts(paths: StudyPaths, search: str, trial_ids: Collection[str]) -> None:
    """Give gathered attempts at some trials files of their own again; they stay gathered too.

    Args:
        paths: paths of the results folder, whose lock is held.
        search: id of the search.
        trial_ids: ids of trials of it, which are about to run again.

    Raises:
        CorruptFileError: the gathered attempts cannot be read.
    """
    for attempt in read_gathered_attempts(paths, search):
        if attempt.trial_id in trial_ids and not exists(_KIND.place(paths, attempt)):
            write_attempt(paths, attempt)


def attempts_by_trial(attempts: Iterable[Attempt]) -> dict[str, list[Attempt]]:
    """Trial id -> the attempts at it, as they come."""
    found: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        found.setdefault(attempt.trial_id, []).append(attempt)
    return found


def merged_attempts(gathered: Iterable[Attempt], loose: Iterable[Attempt] = ()) -> list[Attempt]:
    """Each attempt once, by trial and number.

    Args:
        gathered: those of the file of a search.
        loose: those in files of their own.
    """
    found = {(it.trial_id, it.number): it for it in gathered}
    for attempt in loose:
        known = found.setdefault((attempt.trial_id, attempt.number), attempt)
        if known.ended_at is None and attempt.ended_at is not None:
            found[attempt.trial_id, attempt.number] = attempt
    return [found[key] for key in sorted(found)]


def _gathered_files(paths: StudyPaths) -> list[Place]:
    return [paths.attempts / name for name in list_names(paths.attempts, ".json")]


def _loose(paths: StudyPaths, files: Sequence[Place]) -> Iterator[Attempt]:
    """The attempts in files of their own, but for those that vanished."""
    return filter(None, map(partial(_attempt, paths), files, read_checksummed_of_many(files)))


def _sound_attempt(paths: StudyPaths, path: Place) -> Attempt | None:
    try:
        return read_attempt_file(paths, path)
    except CorruptFileError:
        return None


def _attempt(paths: StudyPaths, path: Place, values: dict[str, Any] | None) -> Attempt | None:
    return None if values is None else _KIND.parsed(paths, path, values)
