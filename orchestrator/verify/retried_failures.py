"""Checks the records of failures after which trials were run again."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from orchestrator.results.records.retried import RetriedFailure, read_retried_file
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import list_below
from orchestrator.trials.failure_causes import FAILURE_CAUSES
from orchestrator.verify.findings import Findings, some_of
from orchestrator.verify.stored_study import StoredStudy

__all__ = ["check_retried", "read_sound_retried"]


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
            _check_failure(paths, failure, len(stored.asks.get(failure.search, ())), findings)
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
            f" {some_of(interrupted)}; the run was killed in this moment",
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
