"""Detects failures that every trial would hit, and stops the run for them."""

from dataclasses import dataclass, field

from podium.errors import PodiumError
from podium.orchestrator.scheduling.running_trial import RunningTrial
from podium.orchestrator.trials.failure_causes import (
    DATA,
    DEVICE,
    ERROR,
    INPUT,
    LOST,
    OUT_OF_MEMORY,
    STUCK,
    FailureTally,
)
from podium.orchestrator.trials.worker_messages import Ended

# So many trials in a row that fail with the same message, in several losses, fail for a reason
# outside of them.
_MAX_SAME_FAILURES = 3

_OF_A_NEW_STUDY = (ERROR, OUT_OF_MEMORY, LOST, STUCK, DEVICE)


@dataclass(slots=True)
class SystematicFailureDetector:
    """Sees every failure and every progress of a run.

    Attributes:
        anything_works: whether a trial of the study ever reported something.
        tally: counts of failures and retries by cause, for people.
    """

    anything_works: bool
    tally: FailureTally = field(default_factory=FailureTally)
    _same: list[tuple[str, str]] = field(default_factory=list)  # loss, message
    _since: int = 0  # serial number of the last attempt handed out before the first of them

    def note_progress(self, running: RunningTrial) -> None:
        """A trial got further; one that started before the failures proves nothing."""
        self.anything_works = True
        if running.serial > self._since:
            self._same.clear()

    def record_failure(self, running: RunningTrial, ended: Ended, num_handed_out: int) -> None:
        """Count a failure, unless every trial would fail like this one.

        A config that a search chose may be at fault itself; the published default and the
        untrained network are not, and data that cannot be read are no config's fault.

        Raises:
            PodiumError: what has to be fixed. The trial leaves no row: the next run retries it.
        """
        spec = running.spec
        where = f"{spec.search.block.label} {spec.search.loss}"
        if self._would_fail_every_trial(running, ended):
            raise PodiumError(
                f"{where} cannot be trained: {ended.message}\n"
                "Nothing was recorded of it: fix this, then run the same command to continue."
            )
        self._check_repetition(spec.search.loss, ended, num_handed_out)
        self.tally.add(str(ended.cause), f"{ended.message} ({where})")

    def _would_fail_every_trial(self, running: RunningTrial, ended: Ended) -> bool:
        if ended.cause == DATA:
            return True
        spec = running.spec
        if (spec.stage == "search" and not spec.is_default) or not running.history.is_empty:
            return False
        return ended.cause == INPUT or (ended.cause in _OF_A_NEW_STUDY and not self.anything_works)

    def _check_repetition(self, loss: str, ended: Ended, num_handed_out: int) -> None:
        message = str(ended.message)
        if ended.cause not in (ERROR, INPUT):
            return
        if not self._same or self._same[0][1] != message:
            self._same, self._since = [], num_handed_out
        self._same.append((loss, message))
        losses = sorted({loss for loss, _ in self._same})
        if len(self._same) >= _MAX_SAME_FAILURES and len(losses) > 1:
            raise PodiumError(
                f"{len(self._same)} trials in a row, of the losses {', '.join(losses)}, failed"
                " with the same message, and none that started since got further:"
                f" {message}\nNothing was recorded of the last one: fix this, then run the same"
                " command to continue."
            )
