"""Failures that were withdrawn, so that their trials are run again from scratch.

Each is written before its row is deleted. It holds what the row said, so that a failure is never
forgotten, and it makes the withdrawal complete: a run that finds the row of a record still there
deletes it. Attempts at the trial stay as they are.
"""

from pydantic.dataclasses import dataclass

from orchestrator.results.records.json_records import STRICT, Count, FileName, Time


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class RetriedFailure:
    """A failure of a trial that was run again.

    Attributes:
        trial_id: id of the trial.
        number: counts the failures of the trial that were withdrawn, from 1.
        search: id of its search.
        stage: ``search``, ``final`` or ``baseline``.
        cause: why it failed (`orchestrator.trials.failure_causes`).
        message: one line on the failure.
        traceback: traceback of the failure, with secrets removed.
        log: tail of what the trial printed.
        ended_at: end of the trial, by which its row is recognised.
        attempts: number of its last attempt by then; only later ones count from then on.
    """

    trial_id: FileName
    number: Count
    search: FileName
    stage: str
    cause: str
    message: str | None = None
    traceback: str | None = None
    log: str | None = None
    ended_at: Time | None = None
    attempts: Count
