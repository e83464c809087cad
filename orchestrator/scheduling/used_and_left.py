"""What a study has used of its budget, and how long it still takes."""

from collections.abc import Mapping

from podium.orchestrator.scheduling.budget_shares import TrialCosts
from podium.orchestrator.scheduling.resource_usage import Spent, SpentOn
from podium.orchestrator.scheduling.run_accounting import RunAccount
from podium.orchestrator.scheduling.study_progress import BudgetUse, budget_uses
from podium.orchestrator.scheduling.trial_queues import StudyQueues
from podium.orchestrator.study.blocks import SECONDS_PER_HOUR
from podium.orchestrator.study.study import Study

_KEYS = {"GPU-hours": "budget.gpu_hours", "hours": "budget.wall_hours", "trials": "budget.trials"}
_ENDED = ("complete", "pruned", "failed")


class UsedAndLeft:
    """The hard limits, by what all runs spent, and an estimate of the rest; asked from any thread.

    Attributes:
        used_up_message: sentences for people once the budget is used up; None before.
    """

    def __init__(self, study: Study, account: RunAccount, queues: StudyQueues) -> None:
        self._account = account
        self._queues = queues
        self._costs = TrialCosts(study)
        self._by_id = {run.search.id: run.search for run in queues.runs}
        self._part_done = 0.0
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
        """Whether the study has to be stopped; a budget of trials is used up once none runs."""
        if self.used_up_message is None and self._is_reached(num_running) and self._is_work_left:
            self.used_up_message = self._message()
        return self.used_up_message is not None

    def _is_reached(self, num_running: int) -> bool:
        hours = (
            (self._account.budget.gpu_hours, self._account.gpu_seconds),
            (self._account.budget.wall_hours, self._account.wall_seconds),
        )
        if any(it is not None and used() >= it * SECONDS_PER_HOUR for it, used in hours):
            return True
        return not num_running and self.are_trials_used_up(0)

    def are_trials_used_up(self, num_running: int) -> bool:
        """Whether no other trial may start beside those that run.

        A budget that shrank may leave less than is planned.
        """
        limit, used = self._account.budget.trials, self._queues.num_trained + num_running
        return limit is not None and used >= limit and self._is_work_left

    @property
    def _is_work_left(self) -> bool:
        """Whether trials are left to train, copies excluded. Checked last: counts every search."""
        return self._queues.num_trained < self._queues.num_to_train

    def left(self, num_slots: int) -> tuple[float | None, float | None]:
        """Seconds until all trials are done or the budget is used up, and the part that is done.

        The part is of the seconds of all trials, in [0, 1], and never falls.

        Returns:
            None for what is not known. Nothing is before more trials ended than there are slots,
            the first of which load much, and one of each search, since losses differ. GPU-hours
            are counted at the rate of this run.
        """
        seconds, part_done = self._of_trials(num_slots)
        left, account, budget = [], self._account, self._account.budget
        if seconds is not None:
            left.append(seconds)
        if budget.wall_hours is not None:
            left.append(budget.wall_hours * SECONDS_PER_HOUR - account.wall_seconds())
        gpus = account.gpus_at_a_time()
        if budget.gpu_hours is not None and gpus:
            left.append((budget.gpu_hours * SECONDS_PER_HOUR - account.gpu_seconds()) / gpus)
        return max(0.0, min(left)) if left else None, part_done

    def _of_trials(self, num_slots: int) -> tuple[float | None, float | None]:
        """Seconds until all trials are done, and the part of all seconds that is done."""
        sums = self._account.sums()
        if sum(spent.tries for on, spent in sums.items() if on.use in _ENDED) <= num_slots:
            return None, None
        if any(run.num_planned and not run.num_ended for run in self._queues.runs):
            return None, None
        self._costs.learn(sums)
        if not self._costs.are_known:
            return None, None
        pruned = self._pruned_part(sums)
        left, longest, num_left = 0.0, 0.0, 0
        for run in self._queues.runs:
            searched = run.num_planned - run.num_ended
            finals = self._queues.final_stage.of[run.search.id].num_to_train
            left += searched * self._costs.seconds(run.search, "search") * pruned
            left += finals * self._costs.seconds(run.search, "final")
            num_left += searched + finals
        baselines = self._queues.final_stage.baselines
        left += baselines.num_to_train * self._costs.baseline_seconds
        for search_id, stage, seconds in self._account.spending.running():
            search = self._by_id.get(search_id)
            if search is not None:
                whole = self._costs.seconds(search, stage) * (pruned if stage == "search" else 1.0)
                left -= min(seconds, whole)
                longest = max(longest, whole - seconds)
        done = sum(spent.seconds for spent in sums.values())
        left = max(0.0, left)
        self._part_done = max(self._part_done, done / (done + left) if done else 0.0)
        slots = max(1, min(num_slots, num_left + baselines.num_to_train))
        return max(left / slots, longest), self._part_done

    def _pruned_part(self, sums: Mapping[SpentOn, Spent]) -> float:
        """Part of their whole time that trials of searches took, those stopped early included."""
        took = whole = 0.0
        for on, spent in sums.items():
            search = self._by_id.get(on.search)
            if search is not None and on.stage == "search" and on.use in _ENDED:
                took += spent.seconds
                whole += spent.tries * self._costs.seconds(search, "search")
        return took / whole if whole else 1.0

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
