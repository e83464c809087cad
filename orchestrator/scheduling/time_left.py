"""How long a study still takes: the trials that are left, times what such trials took so far."""

from collections.abc import Mapping
from typing import NamedTuple

from podium.orchestrator.scheduling.budget_shares import TrialCosts
from podium.orchestrator.scheduling.resource_usage import Spent, SpentOn
from podium.orchestrator.scheduling.run_accounting import RunAccount
from podium.orchestrator.scheduling.trial_queues import StudyQueues
from podium.orchestrator.study.study import Search, Study

_ENDED = ("complete", "pruned", "failed")


class Estimate(NamedTuple):
    """How far a study is.

    Attributes:
        seconds_left: seconds until all its trials are done.
        part_done: part of the seconds of all its trials that is done, in [0, 1].
    """

    seconds_left: float
    part_done: float


class TimeLeft:
    """Estimates the rest of a study by what all its runs spent; may be asked from any thread.

    Args:
        study: the resolved study.
        account: what its runs spent so far.
        queues: what is left of it.
    """

    def __init__(self, study: Study, account: RunAccount, queues: StudyQueues) -> None:
        self._account = account
        self._queues = queues
        self._costs = TrialCosts(study)
        self._by_id = {run.search.id: run.search for run in queues.runs}
        self._part_done = 0.0

    def estimate(self, num_slots: int) -> Estimate | None:
        """How far the study is; the part that is done never falls.

        Args:
            num_slots: number of trials that run at a time.

        Returns:
            None before more trials ended than there are slots: the first of each slot loads much.
        """
        sums = self._account.sums()
        if sum(spent.tries for on, spent in sums.items() if on.use in _ENDED) <= num_slots:
            return None
        self._costs.learn(sums)
        if not self._costs.are_known:
            return None
        pruned = self._pruned_part(sums)
        left, longest, num_left = 0.0, 0.0, 0
        for run in self._queues.runs:
            searched = run.num_planned - run.num_ended
            finals = self._queues.final_stage.num_to_train(run.search)
            left += searched * self._seconds(run.search, "search") * pruned
            left += finals * self._seconds(run.search, "final")
            num_left += searched + finals
        baselines = self._queues.final_stage.baselines
        num_baselines = baselines.num_planned - baselines.num_done
        left += num_baselines * self._costs.baseline_seconds
        for one in self._account.spending.running():
            search = self._by_id.get(one.search)
            if search is not None:
                whole = self._seconds(search, one.stage)
                whole *= pruned if one.stage == "search" else 1.0
                left -= min(one.seconds, whole)
                longest = max(longest, whole - one.seconds)
        done = sum(spent.seconds for spent in sums.values())
        left = max(0.0, left)
        self._part_done = max(self._part_done, done / (done + left) if done else 0.0)
        slots = max(1, min(num_slots, num_left + num_baselines))
        return Estimate(max(left / slots, longest), self._part_done)

    def _seconds(self, search: Search, stage: str) -> float:
        return self._costs.seconds(search, stage) or 0.0

    def _pruned_part(self, sums: Mapping[SpentOn, Spent]) -> float:
        """Part of their whole time that trials of searches took, those stopped early included."""
        took = whole = 0.0
        for on, spent in sums.items():
            search = self._by_id.get(on.search)
            if search is not None and on.stage == "search" and on.use in _ENDED:
                took += spent.seconds
                whole += spent.tries * self._seconds(search, "search")
        return took / whole if whole else 1.0
