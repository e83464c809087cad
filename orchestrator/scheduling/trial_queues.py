"""What is left to run: searches by fair share, then baselines and finals."""

import math
from collections import Counter, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence

from podium.orchestrator.results.records.journal_records import Ask
from podium.orchestrator.scheduling.budget_shares import BudgetShares
from podium.orchestrator.scheduling.final_stage import FinalStage
from podium.orchestrator.scheduling.running_search import SearchRun
from podium.orchestrator.scheduling.running_trial import Earlier
from podium.orchestrator.scheduling.study_progress import SearchProgress, search_name
from podium.orchestrator.search_samplers.suggester import Outcome
from podium.orchestrator.study.study import Search, Study
from podium.orchestrator.trials.specification import TrialSpec

_CHANGES_PER_SEARCH = 0.1  # suggestions and ends of trials between two looks at all shares
_LOOK_SECONDS = 1.0


class StudyQueues:
    """All work of a study. Rebuilt from the store by `restore`; holds nothing else of its own.

    Only searches of one block, loss and repeat can share finals; in deterministic order these plan
    theirs once all are over, so that it does not depend on their speed which is first.

    Without shares there can be no budget of hours.

    Attributes:
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
        self._allowed: Collection[str] = ()  # ids of searches with a share, at the last look
        self._looked_at = -math.inf  # in seconds of the runs
        self._num_changes = 0  # since then
        self._over: list[SearchRun] = []
        self._num_told_over = 0

    def restore(
        self,
        asks: Mapping[str, Sequence[Ask]],
        outcomes: Mapping[str, Mapping[str, Outcome]],
        had_trained: Collection[str] = (),
    ) -> None:
        """Restore every search from its asks and the outcomes of its trials.

        Unfinished trials go first. Searches that ``had_trained`` finals which failed and are
        retried plan theirs before others, so that the others have copies as before.
        """
        for search_id, run in self._by_id.items():
            self._retries.extend(
                run.restore(asks.get(search_id, ()), dict(outcomes.get(search_id, {})))
            )
        for run in sorted(self.runs, key=lambda run: run.search.id not in had_trained):
            self._note_end(run)
        # In a study that has grown, a search with finals need not wait for new searches.
        for run in self.runs:
            is_planned = self.final_stage.are_planned(run.search)
            if not is_planned and run.is_over and self.final_stage.has_begun(run.search):
                self.final_stage.plan(run)

    def next_spec(self, write_ask: Callable[[Ask], None], num_slots: int) -> TrialSpec | None:
        """The next trial, or None if nothing can start before a running trial ends.

        Lost and interrupted trials come first, then the search that has used the smallest part
        of its trials, then baselines and finals. A suggestion is written before its trial runs.
        """
        for retry in self._retries:
            if retry.stage != "search" or self.run_of(retry).may_start(retry.trial_id):
                self._retries.remove(retry)
                return retry
        while (run := self._next_search(num_slots)) is not None:
            self._num_changes += 1
            ask, spec = run.suggest()
            write_ask(ask)
            if spec is not None:
                return spec
            self._note_end(run)  # the space may be exhausted now
        return self.final_stage.next()

    def _next_search(self, num_slots: int) -> SearchRun | None:
        """The search that suggests next; None if none with a share of the budget can now."""
        run = self._furthest_behind() if self._is_look_recent() else None
        if run is None:
            self._allowed = self._with_share(num_slots)
            self._looked_at, self._num_changes = self._run_seconds(), 0
            run = self._furthest_behind()
        self._num_filled += run is not None
        return run

    def _is_look_recent(self) -> bool:
        """Whether so little has happened since all shares were looked at that they still hold.

        To look at all of many searches for each suggestion would take longer with each of them.
        """
        return (
            self._num_changes < len(self.runs) * _CHANGES_PER_SEARCH
            and self._run_seconds() - self._looked_at < _LOOK_SECONDS
        )

    def _run_seconds(self) -> float:
        return self._budget_shares.run_seconds if self._budget_shares is not None else 0.0

    def _furthest_behind(self) -> SearchRun | None:
        """The search with the fewest trials; those of a population come one after the other."""
        run, is_full = self._filled, self._num_filled == self._study.search.population
        if run is not None and not is_full and self._may_suggest(run):
            return run
        able = filter(self._may_suggest, self.runs)
        run = min(able, key=lambda run: run.num_distinct, default=None)
        if run is not None:
            self._filled, self._num_filled = run, 0
        return run

    def _may_suggest(self, run: SearchRun) -> bool:
        return run.search.id in self._allowed and run.can_suggest

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
            run.is_cancelled = True
            if not self.final_stage.has_begun(run.search):
                self.final_stage.leave_out(run.search)
            self._note_end(run)
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
        self._num_changes += 1
        run = self.run_of(spec)
        run.finish(spec.trial_id, outcome)
        self._note_end(run)

    @property
    def num_planned(self) -> int:
        """Trials of the whole study; exact once every search is over."""
        finals = sum(it.num_planned for it in self.final_stage.every)
        return finals + sum(run.num_planned for run in self.runs)

    @property
    def num_done(self) -> int:
        """Trials that have ended, in any stage."""
        finals = sum(it.num_done for it in self.final_stage.every)
        return finals + sum(run.num_ended for run in self.runs)

    @property
    def num_trained(self) -> int:
        """Trials that have ended, without copies, which cost nothing."""
        return self.num_done - sum(it.num_copies_done for it in self.final_stage.every)

    @property
    def num_to_train(self) -> int:
        """Trials of the whole study without copies, as far as these are known."""
        return self.num_planned - sum(it.num_copies for it in self.final_stage.every)

    @property
    def num_failed(self) -> int:
        """Trials that failed, in any stage."""
        failed = sum(run.count("FAILED") for run in self.runs)
        return failed + sum(it.num_failed for it in self.final_stage.every)

    def take_newly_over(self) -> list[SearchRun]:
        """Searches that are over since the last call."""
        told, self._num_told_over = self._num_told_over, len(self._over)
        return self._over[told:]

    def progress(self, running: Sequence[TrialSpec]) -> tuple[SearchProgress, ...]:
        """Progress of each search, of which these trials run now."""
        counts = Counter(spec.search.id for spec in running)
        return tuple(self.progress_of(run.search, counts[run.search.id]) for run in self.runs)

    def progress_of(self, search: Search, running: int = 0) -> SearchProgress:
        """Progress of one search, of which so many trials run."""
        run, finals = self._by_id[search.id], self.final_stage.of[search.id]
        return SearchProgress(
            id=search.id,
            name=search_name(self._study, search),
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

    def _with_share(self, num_slots: int) -> Collection[str]:
        """Ids of searches whose share of the budget lets them train one trial more.

        Once none has any left, and no trial runs that may leave budget over, all of them end.
        """
        shares = self._budget_shares
        if shares is None or not shares.are_limited:
            return self._by_id.keys()
        wanting = [run for run in self.runs if run.wants_more]
        if not wanting:
            return ()
        allowed = shares.allowed(self.runs, self.final_stage, num_slots)
        no_share = not any(run.search.id in allowed for run in wanting)
        if no_share and all(run.num_ended == run.num_distinct for run in self.runs):
            ended = {run.search.id: run.num_distinct for run in wanting}
            shares.end(ended)
            self.end_early(ended)
            for run in wanting:
                self._note_end(run)
        return allowed

    def _group_of(self, search: Search) -> Hashable:
        """Key of the searches that have to wait for each other."""
        if self._study.search.order == "deterministic":
            return search.block, search.loss, search.repeat
        return search.id

    def _note_end(self, run: SearchRun) -> None:
        """Once a search is over, plan its finals; those of a group once all of that are over."""
        if run.is_over and run not in self._over:
            self._over.append(run)
        group = self._groups[self._group_of(run.search)]
        if not self.final_stage.are_planned(run.search) and all(it.is_over for it in group):
            for member in group:
                if not self.final_stage.are_planned(member.search):
                    self.final_stage.plan(member)
