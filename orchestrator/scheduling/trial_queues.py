"""What is left to run: searches by fair share, then baselines and finals."""

import math
from collections import Counter, deque
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import NamedTuple

from podium.orchestrator.results.records.journal_records import Ask
from podium.orchestrator.scheduling.budget_shares import BudgetShares, Claim
from podium.orchestrator.scheduling.final_stage import FinalStage
from podium.orchestrator.scheduling.running_search import SearchRun
from podium.orchestrator.scheduling.running_trial import Earlier
from podium.orchestrator.scheduling.study_progress import SearchProgress, search_name
from podium.orchestrator.search_samplers.suggester import Outcome
from podium.orchestrator.study.study import Search, Study
from podium.orchestrator.trials.specification import TrialSpec

_CHANGES_PER_SEARCH = 0.1  # suggestions and ends of trials between two looks at all shares
_LOOK_SECONDS = 1.0


class _Counts(NamedTuple):
    """What is counted of a search, and the sums over all searches of a study."""

    planned: int = 0
    distinct: int = 0
    ended: int = 0
    failed: int = 0
    wanting: int = 0  # 1 if it has trials left to suggest
    over: int = 0  # 1 if every trial of it has ended

    @classmethod
    def of(cls, run: SearchRun) -> "_Counts":
        """Those of one search as it is now."""
        return cls(
            planned=run.num_planned,
            distinct=run.num_distinct,
            ended=run.num_ended,
            failed=run.count("FAILED"),
            wanting=run.wants_more,
            over=run.is_over,
        )

    def changed(self, before: "_Counts", now: "_Counts") -> "_Counts":
        """The sums, once one search has changed."""
        return _Counts(*(a + c - b for a, b, c in zip(self, before, now, strict=True)))


class _Standings:
    """Which search is furthest behind of those that can suggest; of equals the first.

    A heap of searches by the number of trials they were given. Whenever a search changes and can
    suggest, its entry of that number is in the heap; other entries may be outdated, and are
    dropped once they come to the top.

    Args:
        runs: all searches of the study, in its order.
    """

    def __init__(self, runs: Sequence[SearchRun]) -> None:
        self._runs = runs
        self._heap: list[tuple[int, int]] = []  # number of distinct trials, position
        self._entered: dict[int, int] = {}  # position -> number of distinct trials in the heap

    def note(self, position: int) -> None:
        """The search at this position has changed."""
        run = self._runs[position]
        if run.can_suggest and self._entered.get(position) != run.num_distinct:
            self._entered[position] = run.num_distinct
            heappush(self._heap, (run.num_distinct, position))

    def first(self, among: Container[str]) -> SearchRun | None:
        """The search furthest behind that can suggest; None if there is none.

        Args:
            among: ids of searches that may.
        """
        passed, found = [], None
        while self._heap and found is None:
            number, position = self._heap[0]
            run = self._runs[position]
            if number != run.num_distinct or not run.can_suggest:
                self._drop()
            elif run.search.id in among:
                found = run
            else:
                passed.append(heappop(self._heap))
        for entry in passed:
            heappush(self._heap, entry)
        return found

    def _drop(self) -> None:
        number, position = heappop(self._heap)
        if self._entered.get(position) == number:
            del self._entered[position]


class _Look(NamedTuple):
    """A look at the shares of all searches.

    Attributes:
        allowed: ids of searches that could suggest another trial by then.
        changes: number of changes of any search until then.
        seconds: seconds of the runs until then.
    """

    allowed: Collection[str]
    changes: int
    seconds: float


class StudyQueues:
    """All work of a study. Rebuilt from the store by `restore`; holds nothing else of its own.

    Only searches of one block, loss and repeat can share finals; in deterministic order these plan
    theirs once all are over, so that it does not depend on their speed which is first.

    Args:
        study: the resolved study.
        runs: all its searches.
        final_stage: its finals and baselines.
        budget_shares: shares of a budget of hours; None where there can be none.

    Attributes:
        runs: all searches of the study.
        final_stage: its finals and baselines.
        earlier: trial id -> earlier attempts, of trials that have some and no row.
    """

    def __init__(
        self,
        study: Study,
        runs: Sequence[SearchRun],
        final_stage: FinalStage,
        budget_shares: BudgetShares | None,
    ) -> None:
        self._study = study
        self.runs = runs
        self.final_stage = final_stage
        self.earlier: dict[str, Earlier] = {}
        self._budget_shares = budget_shares
        self._by_id = {run.search.id: run for run in runs}
        self._groups: dict[Hashable, list[SearchRun]] = {}
        for run in runs:
            self._groups.setdefault(self._group_of(run.search), []).append(run)
        self._retries: deque[TrialSpec] = deque()
        self._filled: SearchRun | None = None  # which the last suggestions were of
        self._num_filled = 0
        self._standings = _Standings(runs)
        self._counts = [_Counts() for _ in runs]
        self._sums = _Counts()
        self._num_changes = 0
        self._look = _Look((), 0, -math.inf)
        self._newly_over: list[int] = []
        for position, run in enumerate(runs):
            run.on_change = partial(self._note, position)
            run.on_change()

    def _note(self, position: int) -> None:
        """Take in that a search has changed; all that is known of all searches is kept here."""
        before, now = self._counts[position], _Counts.of(self.runs[position])
        self._counts[position] = now
        self._sums = self._sums.changed(before, now)
        self._num_changes += 1
        self._standings.note(position)
        if now.over and not before.over:
            self._newly_over.append(position)

    def restore(
        self,
        asks: Mapping[str, Sequence[Ask]],
        outcomes: Mapping[str, Mapping[str, Outcome]],
        had_trained: Collection[str] = (),
    ) -> None:
        """Restore every search from the store; unfinished trials go first.

        Args:
            asks: search id -> its stored suggestions, by index.
            outcomes: search id -> trial id -> outcome of each ended search trial.
            had_trained: ids of searches for which finals were trained that failed and are retried.
                They plan theirs before others, so that the others have copies as before.
        """
        for search_id, run in self._by_id.items():
            self._retries.extend(
                run.restore(asks.get(search_id, ()), dict(outcomes.get(search_id, {})))
            )
        for run in sorted(self.runs, key=lambda run: run.search.id not in had_trained):
            self._plan_finals_of_group(run)
        # In a study that has grown, a search with finals need not wait for new searches.
        for run in self.runs:
            is_planned = self.final_stage.are_planned(run.search)
            if not is_planned and run.is_over and self.final_stage.has_begun(run.search):
                self.final_stage.plan(run)

    def next_spec(self, write_ask: Callable[[Ask], None], num_slots: int) -> TrialSpec | None:
        """The next trial, or None if nothing can start before a running trial ends.

        Lost and interrupted trials come first, then the search that has used the smallest part
        of its trials, then baselines and finals.

        Args:
            write_ask: stores a suggestion before its trial runs.
            num_slots: number of trials that run at a time.
        """
        retry = next(filter(self._may_start, self._retries), None)
        if retry is not None:
            self._retries.remove(retry)
            return retry
        while (run := self._next_search_with_share(num_slots)) is not None:
            ask, spec = run.suggest()
            write_ask(ask)
            if spec is not None:
                return spec
            self._plan_finals_of_group(run)  # the space may be exhausted now
        return self.final_stage.next()

    def _next_search_with_share(self, num_slots: int) -> SearchRun | None:
        if self._is_look_recent() and (run := self._next_search(self._look.allowed)) is not None:
            return run
        allowed = self._allowed(num_slots)
        self._look = _Look(allowed, self._num_changes, self._run_seconds())
        return self._next_search(allowed)

    def _is_look_recent(self) -> bool:
        """Whether so little has happened since all shares were looked at that they still hold.

        To look at all of many searches for each suggestion would take longer with each of them.
        """
        changes, seconds = self._look.changes, self._look.seconds
        return (
            self._num_changes - changes < len(self.runs) * _CHANGES_PER_SEARCH
            and self._run_seconds() - seconds < _LOOK_SECONDS
        )

    def _run_seconds(self) -> float:
        return self._budget_shares.run_seconds if self._budget_shares is not None else 0.0

    def _next_search(self, allowed: Container[str]) -> SearchRun | None:
        """The search furthest behind; its trials come together where these make a population.

        Args:
            allowed: ids of searches that may suggest.
        """
        is_full = self._num_filled == self._study.search.population
        run = self._filled
        if run is None or is_full or not run.can_suggest or run.search.id not in allowed:
            run = self._standings.first(allowed)
            if run is None:
                return None
            self._filled, self._num_filled = run, 0
        self._num_filled += 1
        return run

    def end_early(self, ended: Iterable[str]) -> None:
        """Have these searches suggest no more, before anything is restored."""
        for search_id in ended:
            if search_id in self._by_id:
                self._by_id[search_id].end_early()

    def cancel(self, search_ids: Collection[str]) -> dict[str, int]:
        """Have these searches start no other trial, and have no finals.

        A search that has started all its trials goes on, and one that has finals of its trials so
        far, as its study has grown since, tests its winner again.

        Returns:
            Search id -> number of trials it had, of those that this cancels.
        """
        runs = [run for run in self.runs if run.search.id in search_ids and run.wants_more]
        for run in runs:
            run.cancel()
            if not self.final_stage.has_begun(run.search):
                self.final_stage.leave_out(run.search)
            self._plan_finals_of_group(run)
        return {run.search.id: run.num_distinct for run in runs}

    def requeue(self, spec: TrialSpec) -> None:
        """Run a trial again, before all others: its worker was lost."""
        self._retries.append(spec)

    def run_of(self, spec: TrialSpec) -> SearchRun:
        """The search of a search trial."""
        return self._by_id[spec.search.id]

    def finish(self, spec: TrialSpec, outcome: Outcome) -> None:
        """Take in the outcome of a committed trial."""
        if spec.stage != "search":
            self.final_stage.finish(spec, outcome.state)
            return
        run = self.run_of(spec)
        run.finish(spec.trial_id, outcome)
        self._plan_finals_of_group(run)

    @property
    def num_planned(self) -> int:
        """Trials of the whole study; exact once every search is over."""
        return self._sums.planned + self.final_stage.counts.num_planned

    @property
    def num_done(self) -> int:
        """Trials that have ended, in any stage."""
        return self._sums.ended + self.final_stage.counts.num_done

    @property
    def num_trained(self) -> int:
        """Trials that have ended, without copies, which cost nothing."""
        return self.num_done - self.final_stage.counts.num_copies_done

    @property
    def num_to_train(self) -> int:
        """Trials of the whole study without copies, as far as these are known."""
        return self.num_planned - self.final_stage.counts.num_copies

    @property
    def num_failed(self) -> int:
        """Trials that failed, in any stage."""
        return self._sums.failed + self.final_stage.counts.num_failed

    def take_newly_over(self) -> list[SearchRun]:
        """Searches that are over since the last call, in the order of the study."""
        positions, self._newly_over = sorted(self._newly_over), []
        return [self.runs[position] for position in positions]

    def progress(self, running: Sequence[TrialSpec]) -> tuple[SearchProgress, ...]:
        """Progress of each search.

        Args:
            running: specifications of the trials that run now.
        """
        counts = Counter(spec.search.id for spec in running)
        return tuple(self._progress_of(run, counts[run.search.id]) for run in self.runs)

    def progress_of(self, search: Search) -> SearchProgress:
        """Progress of one search, but for what runs."""
        return self._progress_of(self._by_id[search.id], 0)

    def _may_start(self, spec: TrialSpec) -> bool:
        return spec.stage != "search" or self.run_of(spec).may_start(spec.trial_id)

    def _allowed(self, num_slots: int) -> Collection[str]:
        """Ids of searches whose share of the budget lets them train one trial more.

        Once none has any left, and no trial runs that may leave budget over, all of them end.
        """
        shares = self._budget_shares
        if shares is None or not shares.are_limited or not self._sums.wanting:
            return self._by_id.keys()
        baselines = self.final_stage.baselines
        allowed = shares.allowed(
            [self._claim(run) for run in self.runs],
            baselines_left=baselines.num_planned - baselines.num_done,
            num_slots=num_slots,
        )
        wanting = [run for run in self.runs if run.wants_more]
        no_share = not any(run.search.id in allowed for run in wanting)
        if no_share and self._sums.ended == self._sums.distinct:
            ended = {run.search.id: run.num_distinct for run in wanting}
            shares.end(ended)
            self.end_early(ended)
            for run in wanting:
                self._plan_finals_of_group(run)
        return allowed

    def _claim(self, run: SearchRun) -> Claim:
        return Claim(
            search=run.search,
            wants_more=run.wants_more,
            trials=run.num_distinct,
            finals_left=self.final_stage.num_to_train(run.search),
        )

    def _group_of(self, search: Search) -> Hashable:
        """Key of the searches that have to wait for each other."""
        if self._study.search.order == "deterministic":
            return search.block, search.loss, search.repeat
        return search.id

    def _plan_finals_of_group(self, run: SearchRun) -> None:
        """Plan the finals of a search and those of its group, once all of these are over."""
        group = self._groups[self._group_of(run.search)]
        if not self.final_stage.are_planned(run.search) and all(it.is_over for it in group):
            for member in group:
                if not self.final_stage.are_planned(member.search):
                    self.final_stage.plan(member)

    def _progress_of(self, run: SearchRun, running: int) -> SearchProgress:
        finals = self.final_stage.of[run.search.id]
        return SearchProgress(
            name=search_name(self._study, run.search),
            planned=run.num_planned,
            is_cut_short=run.is_cut_short,
            is_cancelled=run.is_cancelled,
            done=run.num_ended,
            running=running,
            pruned=run.count("PRUNED"),
            failed=run.count("FAILED") + finals.num_failed,
            duplicates=run.num_duplicates,
            best=run.best,
            finals_done=finals.num_done,
            finals_planned=finals.num_planned,
        )
