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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from podium.orchestrator.scheduling.resource_usage import Spent, SpentOn
from podium.orchestrator.scheduling.run_accounting import RunAccount
from podium.orchestrator.study.blocks import (
    SECONDS_PER_HOUR,
    has_time_limit,
    most_finals,
    protocol_of,
    searches,
    trials_per_search,
)
from podium.orchestrator.study.configs import loss_training
from podium.orchestrator.study.resource_demand import demand_of
from podium.orchestrator.study.study import Search, Study

# The reserve for finals and baselines is so many times what such trials cost so far.
_MARGIN = 1.1
_ROUNDING = 1e-9  # seconds; sums of shares may round up
_GPUS, _SLOTS = attrgetter("gpu_seconds"), attrgetter("seconds")


class TrialCosts:
    """Estimates the seconds of one trial, from those of its block and loss, its block, or any.

    Args:
        study: the study.

    Attributes:
        final_part: share of the epochs that are those of finals, in [0, 1], were no trial stopped
            early.
    """

    def __init__(self, study: Study) -> None:
        planned = searches(study)
        pairs = {(search.block, search.loss) for search in planned}
        self._epochs = {
            (block, loss): loss_training(study, block, loss).epochs for block, loss in pairs
        }
        self._folds = {search.id: protocol_of(study, search).num_folds for search in planned}
        self._by_id = {search.id: search for search in planned}
        self._rates: dict[object, float] = {}  # seconds of an epoch
        self._baseline: float | None = None
        self.final_part = self._final_part(study, planned)

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

    def seconds(self, search: Search, stage: str) -> float | None:
        """Seconds of one trial of a stage, finals with a margin; None before any has ended."""
        for key in _keys(search, stage):
            if key in self._rates:
                of_trial = self._rates[key] * self._planned_epochs(search, stage)
                return of_trial * (_MARGIN if stage == "final" else 1.0)
        return None

    def _planned_epochs(self, search: Search, stage: str) -> int:
        folds = self._folds[search.id] if stage == "search" else 1
        return self._epochs[search.block, search.loss] * folds

    def _final_part(self, study: Study, planned: tuple[Search, ...]) -> float:
        """Share of finals in all epochs, were no trial stopped early."""
        trials = trials_per_search(study)
        searched = sum(trials * self._planned_epochs(search, "search") for search in planned)
        finals = sum(
            most_finals(study, search) * self._planned_epochs(search, "final")
            for search in planned
        )
        return finals / (finals + searched)


def _keys(search: Search, stage: str) -> tuple[object, ...]:
    """Groups of trials whose cost is an estimate of this one's, the most similar first."""
    pair = (search.block, search.loss)
    return ((*pair, stage), pair, search.block, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a search has had and still needs.

    Attributes:
        search: the search.
        wants_more: whether it has not suggested all its trials.
        trials: number of distinct trials it has suggested.
        finals_left: number of finals to train that have no row yet.
    """

    search: Search
    wants_more: bool
    trials: int
    finals_left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limit:
    """One limit, in seconds of GPUs or of worker slots.

    Attributes:
        whole: seconds of the whole limit.
        left: seconds until it is reached.
        weights: search id -> what a second of its trials counts.
        used: search id -> seconds used by its search trials, running ones included.
        running: search id -> seconds so far of each running search trial.
        running_finals: weighted seconds so far of all running finals and baselines.
    """

    whole: float
    left: float
    weights: Mapping[str, float]
    used: Mapping[str, float]
    running: Mapping[str, Sequence[float]]
    running_finals: float


class BudgetShares:
    """Who may train another trial of its search, by the account of all runs.

    Args:
        study: the study.
        account: what its runs spent so far, and the limits.

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

    def allowed(self, claims: Sequence[Claim], *, baselines_left: int, num_slots: int) -> set[str]:
        """Ids of the searches that may suggest another trial.

        The published default of every search is trained whatever its share.

        Args:
            claims: one for each search of the study.
            baselines_left: number of baseline trials without a row.
            num_slots: number of trials that run at a time.
        """
        sums = self._account.sums()
        self.costs.learn(sums)
        wanting = {claim.search.id for claim in claims if claim.wants_more}
        allowed = set(wanting)
        for limit in self._limits(claims, num_slots, sums):
            allowed &= self._within(limit, claims, baselines_left)
        allowed &= self._in_time(claims, baselines_left, num_slots)
        return allowed | {claim.search.id for claim in claims if claim.trials == 0} & wanting

    def end(self, trials: Mapping[str, int]) -> None:
        """Record that these searches end: search id -> number of trials it had."""
        self._account.end_searches(trials)

    def _within(self, limit: _Limit, claims: Sequence[Claim], baselines_left: int) -> set[str]:
        whole = {claim.search.id: self._whole(limit, claim.search) for claim in claims}
        claimed = {
            name: limit.used[name]
            + sum(
                max(0.0, whole[name] - seconds * limit.weights[name])
                for seconds in limit.running[name]
            )
            for name in whole
        }
        wanting = [claim.search.id for claim in claims if claim.wants_more]
        if not wanting:
            return set()
        claimed_by_others = sum(
            claimed[claim.search.id] - limit.used[claim.search.id]
            for claim in claims
            if not claim.wants_more
        )
        rest = limit.left - self._reserve(limit, claims, baselines_left) - claimed_by_others
        available = rest + sum(limit.used[name] for name in wanting)
        share = _equal_share(available, [claimed[name] for name in wanting])
        return {name for name in wanting if claimed[name] + whole[name] <= share + _ROUNDING}

    def _in_time(self, claims: Sequence[Claim], baselines_left: int, num_slots: int) -> set[str]:
        """Ids of searches that could end one trial more before the finals have to start."""
        hours = self._account.budget.wall_hours
        if hours is None:
            return {claim.search.id for claim in claims}
        left = hours * SECONDS_PER_HOUR - self._account.wall_seconds()
        left -= self._rounds_seconds(claims, baselines_left, num_slots)
        trials = {claim.search.id: self.costs.seconds(claim.search, "search") for claim in claims}
        return {name for name, seconds in trials.items() if (seconds or 0.0) <= left + _ROUNDING}

    def _rounds_seconds(
        self, claims: Sequence[Claim], baselines_left: int, num_slots: int
    ) -> float:
        """Seconds of finals and baselines in rounds of parallel trials, similar lengths together.

        A round takes as long as its longest trial.
        """
        kinds = [
            (self.costs.seconds(claim.search, "final") or 0.0, claim.finals_left)
            for claim in claims
        ]
        kinds.append((self.costs.baseline_seconds, baselines_left))
        assigned, seconds = 0, 0.0
        for one, count in sorted(kinds, reverse=True):
            rounds_before = math.ceil(assigned / num_slots)
            assigned += count
            seconds += one * (math.ceil(assigned / num_slots) - rounds_before)
        return seconds

    def _whole(self, limit: _Limit, search: Search) -> float:
        """Weighted seconds of another trial of the search; 0 before any has ended."""
        return (self.costs.seconds(search, "search") or 0.0) * limit.weights[search.id]

    def _reserve(self, limit: _Limit, claims: Sequence[Claim], baselines_left: int) -> float:
        """Weighted seconds that what is left of finals and baselines will take."""
        if not self.costs.are_known:
            return limit.whole * self.costs.final_part
        finals = sum(
            claim.finals_left
            * (self.costs.seconds(claim.search, "final") or 0.0)
            * limit.weights[claim.search.id]
            for claim in claims
        )
        weight = max(limit.weights.values(), default=0.0)
        baselines = baselines_left * self.costs.baseline_seconds * weight
        return max(0.0, finals + baselines - limit.running_finals)

    def _limits(
        self, claims: Iterable[Claim], num_slots: int, sums: Mapping[SpentOn, Spent]
    ) -> list[_Limit]:
        budget, account = self._account.budget, self._account
        searches = [claim.search for claim in claims]
        limits = []
        if budget.gpu_hours is not None:
            whole = budget.gpu_hours * SECONDS_PER_HOUR
            weights = {item.id: demand_of(self._study, item.block).gpus for item in searches}
            left = whole - account.gpu_seconds()
            limits.append(self._limit(whole, left, weights, sums, _GPUS))
        if budget.wall_hours is not None:
            whole = budget.wall_hours * SECONDS_PER_HOUR * num_slots
            left = whole - account.wall_seconds() * num_slots
            weights = {item.id: 1.0 for item in searches}
            limits.append(self._limit(whole, left, weights, sums, _SLOTS))
        return limits

    def _limit(
        self,
        whole: float,
        left: float,
        weights: Mapping[str, float],
        sums: Mapping[SpentOn, Spent],
        counted: Callable[[Spent], float],
    ) -> _Limit:
        used = dict.fromkeys(weights, 0.0)
        running: dict[str, list[float]] = {name: [] for name in weights}
        finals, most = 0.0, max(weights.values(), default=0.0)
        for on, spent in sums.items():
            if on.stage == "search" and on.search in used:
                used[on.search] += counted(spent)
        for one in self._account.spending.running():
            if one.stage == "search" and one.search in running:
                running[one.search].append(one.seconds)
            else:
                finals += one.seconds * weights.get(one.search, most)
        return _Limit(
            whole=whole,
            left=left,
            weights=weights,
            used=used,
            running=running,
            running_finals=finals,
        )


def _equal_share(available: float, claimed: Sequence[float]) -> float:
    """The share each may have in all; those that claim more already reduce that of the others.

    Args:
        available: seconds they have used together, and seconds left for them.
        claimed: seconds claimed by each.
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
