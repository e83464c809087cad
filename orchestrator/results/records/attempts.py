"""Attempts at trials: where each ran and how it ended.

One JSON file an attempt, in the folder of its search; those of a search that is over are gathered
in one. It is written whole before the files of single attempts are deleted. A worker that was
stopped meanwhile may write its file once more: of two records of one attempt the gathered one
counts, unless only the other has an end.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from pydantic.dataclasses import dataclass

from orchestrator.results.records.json_records import (
    STRICT,
    Amount,
    Count,
    FileName,
    RecordKind,
    Time,
)
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.checksummed_text import read_checksummed
from orchestrator.results.storage.files import (
    each,
    list_folders,
    list_names,
    remove_all,
    remove_if_empty,
)
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Attempt:
    """One attempt at a trial; the first has number 1.

    ``ended_at`` and ``cause`` are None while it runs, and stay so if the process of the run
    was killed with it. Times have a time zone and are informative only.

    Attributes:
        trial_id: id of the trial.
        search: id of its search.
        number: number of the attempt.
        node: name of the machine.
        pid: id of the process.
        device: what it ran on.
        started_at: start of the attempt.
        ended_at: its end.
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
    search: FileName
    number: Count
    node: str
    pid: Count
    device: str
    started_at: Time
    ended_at: Time | None
    cause: str | None
    message: str | None = None
    reports: Count | None = None
    seconds: Amount | None = None
    cpus: Amount | None = None
    gpus: Amount | None = None
    peak_memory_mb: Amount | None = None
    device_memory_mb: Amount | None = None
    members: Count | None = None


_KIND = RecordKind(
    Attempt,
    "attempt",
    "attempts",
    lambda paths, it: paths.attempt(it.search, it.trial_id, it.number),
)


def write_attempt(paths: StudyPaths, attempt: Attempt) -> None:
    """Write an attempt: once when it starts, and again, over that, when it ends."""
    _KIND.write(paths, attempt)


def read_attempt(paths: StudyPaths, search: str, trial_id: str, number: int) -> Attempt | None:
    """One attempt; None if it was never written, or was gathered.

    Raises:
        CorruptFileError: the file is truncated, or is not the attempt its name says.
    """
    return read_attempt_file(paths, paths.attempt(search, trial_id, number))


def read_attempt_file(paths: StudyPaths, path: Place) -> Attempt | None:
    """The attempt in a file of its own, `StudyPaths.attempt`; None if there is none.

    Raises:
        CorruptFileError: the file is truncated, or is not the attempt its name says.
    """
    values = read_checksummed(path)
    return None if values is None else _KIND.parsed(paths, path, values)


def read_attempts_of_trial(paths: StudyPaths, search: str, trial_id: str) -> tuple[Attempt, ...]:
    """Every attempt at one trial, in order.

    Raises:
        CorruptFileError: a file is truncated, or is not the attempt its name says.
    """
    names = list_names(paths.attempt_folder(search), ".json")
    own = [name for name in names if name.rpartition("-")[0] == trial_id]
    loose = _read(paths, [paths.attempt_folder(search) / name for name in own])
    gathered = read_gathered_attempts(paths, search)
    return tuple(merged_attempts((it for it in gathered if it.trial_id == trial_id), loose))


def read_attempts(paths: StudyPaths) -> Iterator[Attempt]:
    """Every attempt of the study, search by search, each search's by trial and number.

    Raises:
        CorruptFileError: a file is truncated, or is not the attempt its name says.
    """
    for search, files in attempt_files(paths).items():  # deleted only after they were gathered
        loose = _read(paths, files)
        yield from merged_attempts(read_gathered_attempts(paths, search), loose)


def attempt_files(paths: StudyPaths) -> dict[str, list[Place]]:
    """Search -> files of single attempts; of searches whose attempts are all gathered none."""
    loose = {folder.name: _files_in(folder) for folder in list_folders(paths.attempts)}
    gathered = [name.removesuffix(".json") for name in list_names(paths.attempts, ".json")]
    return {search: loose.get(search, []) for search in sorted({*loose, *gathered})}


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
    *,
    may_run: bool,
    check: Callable[[], object] = lambda: None,
) -> None:
    """Put the attempts at trials of a search into its one file.

    Files that cannot be read stay as they are: no number of a study depends on them, and
    ``podium verify`` names them.

    Args:
        paths: paths of the results folder, whose lock is held.
        search: id of the search.
        may_run: whether workers may still run, which write the end of an attempt after its trial
            was committed, as when it was pruned. Attempts without an end stay as they are then.
        check: called right before anything is replaced or deleted; what it raises ends it, and
            nothing is lost.

    Raises:
        StoreError: the file cannot be written, or another process wrote it meanwhile.
    """
    folder = paths.attempt_folder(search)
    found = each(partial(_sound_attempt, paths), _files_in(folder))
    loose = [it for it in found if it and (it.ended_at is not None or not may_run)]
    if not loose:
        return
    try:
        before = read_gathered_attempts(paths, search)
    except CorruptFileError:
        return
    check()
    whole = merged_attempts(before, loose)
    _KIND.write_gathered(
        paths, paths.gathered_attempts(search), whole, lambda held: held == before
    )
    check()
    remove_all([_KIND.place(paths, attempt) for attempt in loose])
    remove_if_empty(folder)


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


def _files_in(folder: Place) -> list[Place]:
    return [folder / name for name in list_names(folder, ".json")]


def _read(paths: StudyPaths, files: Sequence[Place]) -> list[Attempt]:
    """The attempts in files of their own, but for those that vanished."""
    return [it for it in each(partial(read_attempt_file, paths), files) if it is not None]


def _sound_attempt(paths: StudyPaths, path: Place) -> Attempt | None:
    try:
        return read_attempt_file(paths, path)
    except CorruptFileError:
        return None
