"""Whether the budget of a study is used up while it runs, and how much of it is."""

from podium.orchestrator.scheduling.run_accounting import RunAccount
from podium.orchestrator.scheduling.study_progress import BudgetUse, budget_uses
from podium.orchestrator.scheduling.trial_queues import StudyQueues
from podium.orchestrator.study.blocks import SECONDS_PER_HOUR

_KEYS = {"GPU-hours": "budget.gpu_hours", "hours": "budget.wall_hours", "trials": "budget.trials"}


class BudgetWatch:
    """The hard limit: what is used by all runs, trials that run now included.

    Args:
        account: hours of all runs of a study, and the limits.
        queues: its trials, done and left.

    Attributes:
        used_up_message: sentences for people once the budget is used up; None before.
    """

    def __init__(self, account: RunAccount, queues: StudyQueues) -> None:
        self._account = account
        self._queues = queues
        self.used_up_message: str | None = None

    def uses(self) -> tuple[BudgetUse, ...]:
        """The use of each limit, and of GPU-hours without a limit if any were used."""
        account, gpu_seconds = self._account, self._account.gpu_seconds()
        uses = budget_uses(
            account.budget, gpu_seconds, account.wall_seconds(), self._queues.num_trained
        )
        if account.budget.gpu_hours is not None or not gpu_seconds:
            return uses
        gpu_hours = gpu_seconds / SECONDS_PER_HOUR
        return (BudgetUse(what="GPU-hours", used=gpu_hours, limit=None), *uses)

    def is_used_up(self, num_running: int) -> bool:
        """Whether the study has to be stopped where it is.

        Args:
            num_running: number of running trials; a budget of trials is used up once these end.
        """
        no_trials = self.are_trials_used_up(num_running) and not num_running
        if self.used_up_message is None and (no_trials or self._are_hours_used_up):
            self.used_up_message = self._message()
        return self.used_up_message is not None

    @property
    def _are_hours_used_up(self) -> bool:
        hours = (
            (self._account.budget.gpu_hours, self._account.gpu_seconds),
            (self._account.budget.wall_hours, self._account.wall_seconds),
        )
        reached = any(
            limit is not None and used() >= limit * SECONDS_PER_HOUR for limit, used in hours
        )
        return reached and self._is_work_left

    def are_trials_used_up(self, num_running: int) -> bool:
        """Whether no other trial may start: a budget that shrank may leave less than is planned.

        Args:
            num_running: number of running trials, which count as used.
        """
        limit = self._account.budget.trials
        if limit is None:
            return False
        return self._queues.num_trained + num_running >= limit and self._is_work_left

    @property
    def _is_work_left(self) -> bool:
        """Whether trials are left to train, copies excluded. Checked last: counts every search."""
        return self._queues.num_trained < self._queues.num_to_train

    def limit_seconds_left(self, seconds_left: float | None) -> float | None:
        """Seconds to the end of all trials or of the budget, whichever comes first.

        Args:
            seconds_left: estimate for all trials that are left; None if not known.

        Returns:
            None if neither is known. GPU-hours are counted at the rate of this run.
        """
        left = [] if seconds_left is None else [seconds_left]
        if self._account.budget.wall_hours is not None:
            whole = self._account.budget.wall_hours * SECONDS_PER_HOUR
            left.append(whole - self._account.wall_seconds())
        gpus = self._account.gpus_at_a_time()
        if self._account.budget.gpu_hours is not None and gpus:
            whole = self._account.budget.gpu_hours * SECONDS_PER_HOUR
            left.append((whole - self._account.gpu_seconds()) / gpus)
        return max(0.0, min(left)) if left else None

    def _message(self) -> str:
        """What is used, what is done and how to continue."""
        spent = [use for use in self.uses() if use.limit is not None and use.used >= use.limit]
        used = ", ".join(map(str, spent))
        keys = " or ".join(_KEYS[use.what] for use in spent)
        return (
            f"The budget is used up: {used}. {self._queues.num_done} of"
            f" {self._queues.num_planned} trials are done. With a larger {keys} the same command"
            " resumes the study."
        )
