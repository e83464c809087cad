"""Has failed trials run again, under the same ids, once what they failed for is fixed.

A failure is recorded in its journal first, then its row is withdrawn, with those of the copies of
its results. The trial is then one that has not ended, like one whose run was killed. A run that
was stopped between the two is completed by the next one.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import polars as pl

from podium.errors import PodiumError
from podium.orchestrator.results.records.journal import Journal, SearchJournal, retried_failures
from podium.orchestrator.results.records.journal_records import RetriedFailure
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.gather_trials import withdraw_trials
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.trials.failure_causes import FAILURE_CAUSES, counts_text

Row = Mapping[str, Any]

_OF_FAILURE = ("search", "stage", "cause", "message", "traceback", "log", "ended_at", "attempts")
_COLUMNS = ("trial_id", "same_as", "is_default", "is_winner", *_OF_FAILURE)


def check_causes(causes: Collection[str]) -> None:
    """Refuse causes that no failed trial can have.

    Raises:
        PodiumError: naming the first unknown cause and the known ones.
    """
    for cause in causes:
        if cause not in FAILURE_CAUSES:
            known = ", ".join(FAILURE_CAUSES)
            raise PodiumError(f"trials fail for one of the causes {known}; got {cause!r}")


def record_retries(
    journal: Journal, reader: Reader, causes: Collection[str], say: Callable[[str], object]
) -> None:
    """Record the failures that are to be withdrawn, except those of finals of a former winner.

    They are of these causes, or of any if none is given. The lock of the results folder is held.

    Raises:
        CorruptFileError: a file is damaged.
        StoreError: the store cannot be read or written.
    """
    is_of_finalist = pl.col("is_default") | pl.col("is_winner")
    failed = _failed(reader).filter((pl.col("stage") != "final") | is_of_finalist)
    chosen = failed.filter(pl.col("cause").is_in(list(causes))) if causes else failed
    if failed.is_empty():
        say("No trial failed, so none is retried.")
        return
    if chosen.is_empty():
        wanted, counts = " or ".join(causes), counts_text(Counter(failed["cause"]))
        say(f"No trial failed for {wanted}, so none is retried. Failures: {counts}.")
        return
    before = retried_failures(journal.read())
    # The trained trial comes before its copies: it is the one with attempts.
    rows = chosen.sort(pl.col("same_as").is_not_null()).to_dicts()
    # A run that was killed before it withdrew a row has recorded its failure.
    new = [row for row in rows if not _is_recorded(row, before)]
    trained: dict[str, RetriedFailure] = {}
    for row in new:
        trial_id = row["same_as"] or row["trial_id"]
        number = len(before.get(trial_id, ())) + 1
        known = {name: row[name] for name in _OF_FAILURE}
        trained.setdefault(trial_id, RetriedFailure(trial_id=trial_id, number=number, **known))
    for failure in trained.values():
        journal.write(failure)
    trials = "1 failed trial" if len(rows) == 1 else f"{len(rows)} failed trials"
    say(f"Retrying {trials} ({counts_text(Counter(chosen['cause']))}).")


def recorded_failures(journals: Mapping[str, SearchJournal], reader: Reader) -> list[Row]:
    """Rows whose failures are recorded to be retried, copies of their results included.

    Raises:
        CorruptFileError: a file is damaged.
        StoreError: the store cannot be read.
    """
    retried = retried_failures(journals)
    failed = _failed(reader).to_dicts() if retried else []
    return [row for row in failed if _is_recorded(row, retried)]


def withdraw(paths: StudyPaths, rows: Sequence[Row]) -> None:
    """Delete the rows that `recorded_failures` gave; the lock of the results folder is held.

    Raises:
        CorruptFileError: a file is damaged; no row of another trial is lost.
        StoreError: the store cannot be written; no row of another trial is lost.
    """
    copies = {row["trial_id"]: row["search"] for row in rows if row["same_as"] is not None}
    trained = {row["trial_id"]: row["search"] for row in rows if row["same_as"] is None}
    withdraw_trials(paths, copies)  # first, or they would be copies of trials without a row
    withdraw_trials(paths, trained)


def _failed(reader: Reader) -> pl.DataFrame:
    return reader.trials().filter(pl.col("state") == "FAILED").select(_COLUMNS).collect()


def _is_recorded(row: Row, retried: Mapping[str, Sequence[RetriedFailure]]) -> bool:
    """Whether a row is the failure of a record, or a copy of it, and not a later one."""
    return any(
        failure.ended_at == row["ended_at"]
        and (row["same_as"] is not None or failure.attempts == row["attempts"])
        for failure in retried.get(row["same_as"] or row["trial_id"], ())
    )
