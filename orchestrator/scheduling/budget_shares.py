"""Equal shares of a budget of hours for the searches of a study.

What the final stage and the baselines will cost is reserved first: as such trials cost so far, or
by their epochs. Of the rest every search has an equal share. A search suggests another trial only
if a whole one fits into its share beside those it has running. What a search that has all its
trials leaves over goes to the others in equal parts, so a search that has used up its share waits
for what they leave, and ends when none is left to come. What a search has had beyond its share is
missing in the shares of the others.

Hours of worker slots can be divided and trials cannot, so a limit of wall-clock hours is also
held to as many rounds of finals as there will be.

`TrialCosts` estimates seconds of a trial, `BudgetShares` decides who may train another one.
"""

import math
from collections.abc import Callable, Mapping, Sequence

from podium.orchestrator.scheduling.final_stage import FinalStage
from podium.orchestrator.scheduling.resource_usage import Spent, SpentOn
from podium.orchestrator.scheduling.run_accounting import RunAccount
from podium.orchestrator.scheduling.running_search import SearchRun
from podium.orchestrator.study.blocks import (
    SECONDS_PER_HOUR,
    has_time_limit,
    protocol_of,
    searches,
)
from podium.orchestrator.study.configs import loss_training
from podium.orchestrator.study.resource_demand import demand_of
from podium.orchestrator.study.study import Search, Study

# The reserve for finals and baselines is so many times what such trials cost so far.
_MARGIN = 1.1
_ROUNDING = 1e-9  # seconds; sums of shares may round up


class TrialCosts:
    """Estimates the seconds of one trial, from those of its block and loss, its block, or any."""

    def __init__(self, study: Study) -> None:
        planned = searches(study)
        pairs = {(search.block, search.loss) for search in planned}
        self._epochs = {
            (block, loss): loss_training(study, block, loss).epochs for block, loss in pairs
        }
        self._searched_epochs = study.search.epochs
        self._folds = {search.id: protocol_of(study, search).num_folds for search in planned}
        self._by_id = {search.id: search for search in planned}
        self._rates: dict[object, float] = {}  # seconds of an epoch
        self._baseline: float | None = None

    @property
    def are_known(self) -> bool:
        """Whether any trial ran to its end."""
        return None in self._rates

    @property
    def baseline_seconds(self) -> float:
        """Seconds of a baseline trial, with a margin; those of an epoch before one has ended."""
        known = self._rates.get(None, 0.0) if self._baseline is None else self._baseline
        return known * _MARGIN

    def learn(self, sums: Mapping[SpentOn, Spent]) -> None:
        """Learn from what was spent so far, by search, stage and use."""
        seconds: dict[object, float] = {}
        epochs: dict[object, float] = {}
        baseline = Spent()
        for on, spent in sums.items():
            search = self._by_id.get(on.search)
            if on.stage == "baseline":
                baseline.add(spent)
            elif search is not None and spent.whole_tries:
                for key in _keys(search, on.stage):
                    of_trial = self._planned_epochs(search, on.stage)
                    seconds[key] = seconds.get(key, 0.0) + spent.whole_seconds
                    epochs[key] = epochs.get(key, 0.0) + spent.whole_tries * of_trial
        self._rates = {key: seconds[key] / epochs[key] for key in seconds}
        if baseline.whole_tries:
            self._baseline = baseline.whole_seconds / baseline.whole_tries

    def seconds(self, search: Search, stage: str) -> float:
        """Seconds of one trial of a stage, finals with a margin; 0 before any has ended."""
        for key in _keys(search, stage):
            if key in self._rates:
                of_trial = self._rates[key] * self._planned_epochs(search, stage)
                return of_trial * (_MARGIN if stage == "final" else 1.0)
        return 0.0

    def _planned_epochs(self, search: Search, stage: str) -> int:
        epochs = self._epochs[search.block, search.loss]
        if stage != "search":
            return epochs
        return (self._searched_epochs or epochs) * self._folds[search.id]


def _keys(search: Search, stage: str) -> tuple[object, ...]:
    """Groups of trials whose cost is an estimate of this one's, the most similar first."""
    pair = (search.block, search.loss)
    return ((*pair, stage), pair, search.block, None)


class BudgetShares:
    """Who may train another trial of its search, by the account of all runs.

    Attributes:
        costs: estimates of the seconds of its trials, learnt while trials end.
    """

    def __init__(self, study: Study, account: RunAccount) -> None:
        self._study = study
        self._account = account
        self.costs = TrialCosts(study)

    @property
    def are_limited(self) -> bool:
        """Whether there is a limit of hours now."""
        return has_time_limit(self._account.budget)

    @property
    def run_seconds(self) -> float:
        """Seconds of all runs so far."""
        return self._account.wall_seconds()

    def allowed(
        self, runs: Sequence[SearchRun], final_stage: FinalStage, num_slots: int
    ) -> set[str]:
        """Ids of the searches that may suggest another trial; ``num_slots`` trials run at a time.

        The published default of every search is trained whatever its share.
        """
        account, budget = self._account, self._account.budget
        sums = account.sums()
        self.costs.learn(sums)
        wanting = [run.search.id for run in runs if run.wants_more]
        allowed = set(wanting)
        if budget.gpu_hours is not None:
            gpus = demand_of(self._study).gpus
            used = _searched(sums, lambda spent: spent.gpu_seconds)
            left = budget.gpu_hours * SECONDS_PER_HOUR - account.gpu_seconds()
            left -= self._reserve(gpus, runs, final_stage)
            allowed &= self._within(left, gpus, used, runs)
        if budget.wall_hours is not None:
            used = _searched(sums, lambda spent: spent.seconds)
            left = budget.wall_hours * SECONDS_PER_HOUR - account.wall_seconds()
            of_slots = left * num_slots - self._reserve(1.0, runs, final_stage)
            allowed &= self._within(of_slots, 1.0, used, runs)
            left -= self._rounds_seconds(runs, final_stage, num_slots)
            trials = {run.search.id: self.costs.seconds(run.search, "search") for run in runs}
            allowed &= {name for name, seconds in trials.items() if seconds <= left + _ROUNDING}
        return allowed | {run.search.id for run in runs if run.wants_more and not run.num_distinct}

    def end(self, trials: Mapping[str, int]) -> None:
        """Record that these searches end: search id -> number of trials it had."""
        self._account.end_searches(trials)

    def _within(
        self, left: float, weight: float, used: Mapping[str, float], runs: Sequence[SearchRun]
    ) -> set[str]:
        """Ids of searches with room for one trial more in their equal share of a limit.

        Left and used, by running trials too, are seconds of GPUs or of worker slots; the weight is
        how many of them a second of a trial counts. What is reserved for finals is not left.
        """
        whole = {it.search.id: weight * self.costs.seconds(it.search, "search") for it in runs}
        claimed = {name: used.get(name, 0.0) for name in whole}
        for name, stage, seconds in self._account.spending.running():
            if stage == "search" and name in claimed:
                claimed[name] += max(0.0, whole[name] - seconds * weight)
        wanting = [run.search.id for run in runs if run.wants_more]
        others = [run.search.id for run in runs if not run.wants_more]
        by_others = sum(claimed[name] - used.get(name, 0.0) for name in others)
        available = left - by_others + sum(used.get(name, 0.0) for name in wanting)
        share = _equal_share(available, [claimed[name] for name in wanting])
        return {name for name in wanting if claimed[name] + whole[name] <= share + _ROUNDING}

    def _reserve(self, weight: float, runs: Sequence[SearchRun], final_stage: FinalStage) -> float:
        """Weighted seconds of what is left of finals and baselines; 0 before any trial ended."""
        reserve = final_stage.baselines.num_to_train * self.costs.baseline_seconds * weight
        for run in runs:
            finals = final_stage.of[run.search.id].num_to_train
            reserve += finals * self.costs.seconds(run.search, "final") * weight
        for _, stage, seconds in self._account.spending.running():
            if stage != "search":
                reserve -= seconds * weight
        return max(0.0, reserve)

    def _rounds_seconds(
        self, runs: Sequence[SearchRun], final_stage: FinalStage, num_slots: int
    ) -> float:
        """Seconds of finals and baselines in rounds of parallel trials, similar lengths together.

        A round takes as long as its longest trial.
        """
        kinds = [
            (self.costs.seconds(run.search, "final"), final_stage.of[run.search.id].num_to_train)
            for run in runs
        ]
        kinds.append((self.costs.baseline_seconds, final_stage.baselines.num_to_train))
        assigned, seconds = 0, 0.0
        for one, count in sorted(kinds, reverse=True):
            rounds_before = math.ceil(assigned / num_slots)
            assigned += count
            seconds += one * (math.ceil(assigned / num_slots) - rounds_before)
        return seconds


def _searched(
    sums: Mapping[SpentOn, Spent], seconds_of: Callable[[Spent], float]
) -> dict[str, float]:
    """Search id -> what its trials of the search stage used so far."""
    found: dict[str, float] = {}
    for on, spent in sums.items():
        if on.stage == "search":
            found[on.search] = found.get(on.search, 0.0) + seconds_of(spent)
    return found


def _equal_share(available: float, claimed: Sequence[float]) -> float:
    """The share each may have of all seconds, used or left.

    Those that claim more already reduce that of the others.
    """
    under = list(claimed)
    while under:
        share = available / len(under)
        over = [amount for amount in under if amount > share]
        if not over:
            return share
        available -= sum(over)
        under = [amount for amount in under if amount <= share]
    return available
