"""Checks asks (stored suggestions), attempts, checkpoints, and failures that were retried."""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from itertools import groupby, pairwise

import numpy as np
import polars as pl

from orchestrator.ids_and_seeds import config_hash
from orchestrator.results.records.asks import (
    Ask,
    check_indices,
    gathered_searches,
    is_gathered,
    read_ask,
    read_gathered_asks,
)
from orchestrator.results.records.attempts import (
    Attempt,
    attempts_by_trial,
    merged_attempts,
    read_attempt_file,
    read_gathered_attempts,
    searches_with_attempts,
)
from orchestrator.results.records.retried import RetriedFailure, read_retried_file
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import list_below, list_folders, list_names, read_bytes
from orchestrator.results.storage.locations import Place
from orchestrator.trials.failure_causes import FAILURE_CAUSES
from orchestrator.verify.findings import Findings, some_of
from orchestrator.verify.packed_asks import PackedAsks
from orchestrator.verify.stored_study import StoredStudy
from orchestrator.verify.stored_trials import StoredTrials
from podium.errors import CorruptFileError
from trainables.errors import CheckpointError

_STATE = "state.pt"


def read_sound_asks(paths: StudyPaths, findings: Findings) -> PackedAsks:
    """Search id -> its asks, by index; asks that cannot be read are left out and reported."""
    while True:
        files = list_below(paths.asks, ".json")
        own = Findings(tell=findings.tell)
        found = _sound_asks(paths, files, own)
        if not own.problems or list_below(paths.asks, ".json") == files:
            findings.add(own)
            return found  # else they were gathered meanwhile


def _sound_asks(paths: StudyPaths, files: Sequence[Place], findings: Findings) -> PackedAsks:
    found = PackedAsks()
    bad: set[str] = set()  # searches of which something cannot be read
    for search in gathered_searches(paths):
        findings.tell(f"reading the asks of search {search}")
        file = paths.gathered_asks(search)
        with findings.reading(file):
            asks = read_gathered_asks(paths, search)
            for ask in asks:
                _check_ask(file, ask, findings)
            found.put(search, asks)
            continue
        bad.add(search)
    for search, own in groupby(files, key=lambda path: path.parent.name):
        findings.tell(f"reading the asks of search {search}")
        num_gathered = found.length(search)
        asks = list(found.get(search, ()))
        for path in own:
            if is_gathered(path, num_gathered):
                continue
            with findings.reading(path):
                ask = read_ask(paths, path)
                asks.append(ask)
                _check_ask(path, ask, findings)
                continue
            bad.add(search)
        if asks:
            found.put(search, asks)
    for search, asks in found.items():
        findings.checked["asks"] += len(asks)
        if search not in bad:  # else the gap is a file that was reported already
            try:
                check_indices(paths, search, asks)
            except CorruptFileError as error:
                findings.problem(paths.asks / search, str(error))
    return found


def _check_ask(file: Place, ask: Ask, findings: Findings) -> None:
    of = f" of ask {ask.index}"
    if ask.config_hash != config_hash(ask.hyperparameters):
        findings.problem(file, "config_hash must be that of its config", ask.config_hash + of)
    if (ask.index == 0) != (ask.source == "default"):
        findings.problem(file, "ask 0, and no other, is the published default", ask.source + of)


def check_attempts(
    paths: StudyPaths,
    trials: StoredTrials,
    open_trials: Collection[str],
    findings: Findings,
) -> None:
    """Attempts are numbered without a gap, and belong to trials that were suggested.

    Args:
        paths: the results folder.
        trials: trial id -> trial with a row.
        open_trials: ids of trials that were suggested and have no row.
        findings: collects problems and notes.
    """
    unknown = 0
    rowless: list[str] = []
    is_attempted = np.zeros(len(trials), dtype=bool)
    is_read: dict[str, bool] = {}  # of searches with gathered attempts
    for file, trial_id, attempts in _attempts_by_trial(paths, is_read, findings):
        findings.checked["attempts"] += len(attempts)
        row_number = trials.row_number(trial_id)
        if row_number is not None:
            is_attempted[row_number] = True
        if attempts:  # else the gap was reported already
            needed = 0 if row_number is None else trials.frame["attempts"][row_number]
            _check_trial(file, attempts, needed, findings)
            if row_number is None and attempts[-1].cause == "complete":
                rowless.append(trial_id)
        unknown += row_number is None and trial_id not in open_trials
    if unknown:
        findings.note(
            paths.attempts,
            f"{unknown} trials with attempts have no row: finals or baselines that were not"
            " finished, or trials of the study as it was before",
        )
    if rowless:
        findings.note(
            paths.attempts,
            f"{len(rowless)} trials ended and have no row: {some_of(rowless)}; the run"
            " was killed at that moment, or their rows were lost",
            "podium run trains them again",
        )
    without = trials.where(
        pl.col("same_as").is_null(),
        pl.col("attempts") > 0,
        ~pl.Series(is_attempted),
    )
    for row in (trial.row for trial in without):
        if is_read.get(row["search"], True):
            rule = f"trial {row['trial_id']} had {row['attempts']} attempts: there must be records"
            are_gathered = row["search"] in is_read
            own = paths.attempt_folder(row["trial_id"])
            place = paths.gathered_attempts(row["search"]) if are_gathered else own
            findings.problem(place, rule, "none")


def _attempts_by_trial(
    paths: StudyPaths, is_read: dict[str, bool], findings: Findings
) -> Iterator[tuple[Place, str, list[Attempt]]]:
    """Place, trial id and attempts in order of each trial; none where not all could be read.

    Args:
        paths: the results folder.
        is_read: gets the searches with gathered attempts, and whether these can be read.
        findings: collects problems.
    """
    loose = _loose_attempts(paths, findings)  # first, as they go only after they were gathered
    for search in searches_with_attempts(paths):
        file = paths.gathered_attempts(search)
        gathered: list[Attempt] = []
        is_read[search] = False
        with findings.reading(file):
            gathered = read_gathered_attempts(paths, search)
            is_read[search] = True
        for trial_id, attempts in attempts_by_trial(gathered).items():
            yield file, trial_id, merged_attempts(attempts, loose.pop(trial_id, ()))
    for trial_id, attempts in loose.items():
        yield paths.attempt_folder(trial_id), trial_id, merged_attempts(attempts)


def _loose_attempts(paths: StudyPaths, findings: Findings) -> dict[str, list[Attempt]]:
    """Trial id -> attempts in files of their own; none where one of them cannot be read."""
    files = list_below(paths.attempts, ".json")
    found: dict[str, list[Attempt]] = {path.parent.name: [] for path in files}
    bad: set[str] = set()
    for path in files:
        trial_id = path.parent.name
        with findings.reading(path):
            attempt = read_attempt_file(paths, path)
            found[trial_id] += [attempt] if attempt else []
            continue
        bad.add(trial_id)
    return {trial_id: [] if trial_id in bad else them for trial_id, them in found.items()}


def _check_trial(
    file: Place, attempts: Sequence[Attempt], needed: int, findings: Findings
) -> None:
    """Attempts at one trial.

    Args:
        file: where they lie.
        attempts: the attempts, in order.
        needed: number of attempts by its row; 0 if it has none.
        findings: collects problems.
    """
    of = f" of trial {attempts[0].trial_id}"
    numbers = [attempt.number for attempt in attempts]
    if numbers != list(range(1, len(numbers) + 1)):
        rule = f"attempts{of} must be numbered from 1 without a gap"
        findings.problem(file, rule, numbers)
    if needed > len(numbers):
        rule = f"there must be {needed} attempts{of}, as the trial's row says"
        findings.problem(file, rule, len(numbers))


def check_checkpoints(
    paths: StudyPaths, trials: Container[str], open_trials: Collection[str], findings: Findings
) -> None:
    """Checkpoints are whole, and of trials that are not over."""
    for folder in list_folders(paths.checkpoints):
        trial_id = folder.name
        if trial_id in trials:
            advice = "podium run deletes it when it ends the study"
            findings.note(folder, "left by a trial that is committed", advice)
        elif trial_id not in open_trials:
            findings.note(folder, "of a final or baseline that is not finished, or of no trial")
        for name in list_names(folder, ".pt"):
            content = read_bytes(folder / name)
            if content is None:  # its trial was committed at this moment
                continue
            findings.checked["checkpoints"] += 1
            if name != _STATE:
                findings.note(folder / name, "could not be used and was set aside")
                continue
            # Takes half a gigabyte of memory with it, and few folders that are verified need it.
            from trainables.trial.checkpoint import verified_archive

            try:
                verified_archive(content)
            except CheckpointError as error:
                findings.problem(
                    folder / name,
                    str(error),
                    advice="podium run sets it aside, and the trial starts from scratch",
                )


def read_sound_retried(
    paths: StudyPaths, findings: Findings
) -> Mapping[str, Sequence[RetriedFailure]]:
    """Trial id -> its withdrawn failures, in order; unreadable ones are left out and reported."""
    found: dict[str, list[RetriedFailure]] = {}
    for path in list_below(paths.retried, ".json"):
        findings.checked["withdrawn failures"] += 1
        with findings.reading(path):
            failure = read_retried_file(paths, path)
            found.setdefault(failure.trial_id, []).append(failure)
    return {trial_id: sorted(them, key=lambda it: it.number) for trial_id, them in found.items()}


def check_retried(stored: StoredStudy, findings: Findings) -> None:
    """Failures are numbered without a gap, and attempts after them made the rows there are."""
    paths = stored.paths
    interrupted = []
    for trial_id, failures in stored.retried.items():
        _check_numbers(paths, trial_id, failures, findings)
        for failure in failures:
            _check_failure(paths, failure, stored.asks.length(failure.search), findings)
        trial, last = stored.trials.get(trial_id), failures[-1]
        if trial is None or trial.row["attempts"] > last.attempts:
            continue
        row = trial.row
        if row["state"] == "FAILED" and row["attempts"] == last.attempts:
            interrupted.append(trial_id)
        else:
            rule = (
                f"trial {trial_id} was retried after attempt {last.attempts}, its row must be of"
            )
            findings.problem(trial.file, f"{rule} a later one", row["attempts"])
    if interrupted:
        findings.note(
            paths.retried,
            f"{len(interrupted)} failed trials are to be retried and still have their rows:"
            f" {some_of(interrupted)}; the run was killed at that moment",
            "podium run continues with them",
        )


def _check_numbers(
    paths: StudyPaths, trial_id: str, failures: Sequence[RetriedFailure], findings: Findings
) -> None:
    folder = paths.retried_folder(trial_id)
    numbers = [failure.number for failure in failures]
    if numbers != list(range(1, len(numbers) + 1)):
        findings.problem(folder, "failures must be numbered from 1 without a gap", numbers)
    if any(later.attempts <= earlier.attempts for earlier, later in pairwise(failures)):
        rule = "each failure must be of a later attempt than the one before"
        findings.problem(folder, rule, [failure.attempts for failure in failures])


def _check_failure(
    paths: StudyPaths, failure: RetriedFailure, num_asks: int, findings: Findings
) -> None:
    file = paths.retried_failure(failure.trial_id, failure.number)
    if failure.cause not in FAILURE_CAUSES:
        rule = f"a cause must be one of {', '.join(FAILURE_CAUSES)}"
        findings.problem(file, rule, repr(failure.cause))
    if failure.asks > num_asks:
        rule = f"its search has {num_asks} suggestions, so no more can have been made by then"
        findings.problem(file, rule, failure.asks)
