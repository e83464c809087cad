"""Tells what every trial would hit from what is one trial's own, and stops the run for it."""

from dataclasses import dataclass, field

from orchestrator.results.errors import PodiumError
from orchestrator.scheduling.running_trial import RunningTrial
from orchestrator.trials.failure_causes import (
    DATA,
    DEVICE,
    ERROR,
    INPUT,
    LOST,
    OUT_OF_MEMORY,
    STUCK,
    FailureTally,
)
from orchestrator.trials.worker_messages import Ended

__all__ = ["MAX_ALIKE", "FailureJudge"]

# So many trials in a row that fail with the same words, those of several losses among them, fail
# for a reason outside of them.
MAX_ALIKE = 3

_OF_A_NEW_STUDY = (ERROR, OUT_OF_MEMORY, LOST, STUCK, DEVICE)


@dataclass(slots=True)
class FailureJudge:
    """Hears of every failure and every success of a run.

    Attributes:
        anything_works: whether a trial of the study ever said something of its own.
        tally: of failures and repetitions, for people.
    """

    anything_works: bool
    tally: FailureTally = field(default_factory=FailureTally)
    _alike: list[tuple[str, str]] = field(default_factory=list)  # loss, words
    _since: int = 0  # serial number of the last try that was handed out before the first of them

    def works(self, running: RunningTrial) -> None:
        """A trial came further. What began before the failures may not have met their reason."""
        self.anything_works = True
        if running.serial > self._since:
            self._alike.clear()

    def judge(self, running: RunningTrial, ended: Ended, num_handed_out: int) -> None:
        """Count a failure, unless every trial would fail like this one.

        A config that a search chose may be at fault itself; the published default and the
        untrained network are not, and data that cannot be read are no config's fault.

        Raises:
            PodiumError: what has to be mended. The trial leaves no row: the next run tries again.
        """
        spec = running.spec
        place = f"{spec.search.block.label} {spec.search.loss}"
        if self._is_everyones(running, ended):
            raise PodiumError(
                f"{place} cannot be trained: {ended.message}\n"
                "Nothing was recorded of it: mend this, then the same command goes on."
            )
        self._compare(spec.search.loss, ended, num_handed_out)
        self.tally.add(str(ended.cause), f"{ended.message} ({place})")

    def _is_everyones(self, running: RunningTrial, ended: Ended) -> bool:
        if ended.cause == DATA:
            return True
        spec = running.spec
        if (spec.stage == "search" and not spec.is_default) or not running.history.is_empty:
            return False
        return ended.cause == INPUT or (ended.cause in _OF_A_NEW_STUDY and not self.anything_works)

    def _compare(self, loss: str, ended: Ended, num_handed_out: int) -> None:
        words = str(ended.message)
        if ended.cause not in (ERROR, INPUT):
            return
        if not self._alike or self._alike[0][1] != words:
            self._alike, self._since = [], num_handed_out
        self._alike.append((loss, words))
        losses = sorted({loss for loss, _ in self._alike})
        if len(self._alike) >= MAX_ALIKE and len(losses) > 1:
            raise PodiumError(
                f"{len(self._alike)} trials in a row, of the losses {', '.join(losses)}, failed "
                f"with the same words, and none that began since came further: {words}\n"
                "Nothing was recorded of the last one: mend this, then the same command goes on."
            )
