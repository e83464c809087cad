"""What is left to run: searches by fair share, then baselines and finals."""

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from orchestrator.ids_and_seeds import copy_id
from orchestrator.results.records.asks import Ask
from orchestrator.scheduling.budget_shares import BudgetShares, Claim
from orchestrator.scheduling.committed_outcomes import Committed
from orchestrator.scheduling.running_search import Outcome, SearchRun
from orchestrator.scheduling.study_progress import SearchProgress, search_name
from orchestrator.study.blocks import NUM_FINALISTS, num_final_runs
from orchestrator.study.study import Search, Study
from orchestrator.trials.specification import Finalist, TrialSpec
from orchestrator.trials.specification_maker import TrialSpecMaker

__all__ = ["StudyQueues"]


@dataclass(slots=True)
class _SearchQueue:
    """One search with its final stage.

    Attributes:
        run: the search.
        finals: specifications of its finals; None until it is over.
        finals_done: number of finals that have a row, copies included.
        finals_failed: number of these that failed.
        copies: number of finals that are copies of those of other searches.
        copies_done: number of copies that have a row.
    """

    run: SearchRun
    finals: tuple[TrialSpec, ...] | None = None
    finals_done: int = 0
    finals_failed: int = 0
    copies: int = 0
    copies_done: int = 0

    def count(self, spec: TrialSpec, state: str) -> None:
        """One of its finals has a row."""
        self.finals_done += 1
        self.finals_failed += state == "FAILED"
        self.copies_done += spec.same_as is not None


@dataclass(slots=True)
class StudyQueues:
    """All work of a study. Rebuilt from the store by `restore`; holds nothing else of its own.

    Finals of two searches may be one training, as where both picked the same config. The first
    search to plan it has it trained, the others wait for it and take a copy of its row. Only
    searches of one block, loss and repeat can share finals; in deterministic order these plan
    theirs once all are over, so that it does not depend on their speed which is first.

    Attributes:
        study: the resolved study.
        maker: makes the specifications of finals.
        runs: all searches of the study.
        baselines: specifications of the baseline trials of all blocks.
        committed: trial id -> every final and baseline trial that has a row.
        refit_epochs: search id -> epoch to which its published default is trained on all classes,
            where that is not the one its search selected: finals of it have rows, and its trial of
            the search was retried since.
        budget_shares: shares of a budget of hours; None without one, or with nothing to run.
    """

    study: Study
    maker: TrialSpecMaker
    runs: Sequence[SearchRun]
    baselines: Sequence[TrialSpec]
    committed: dict[str, Committed] = field(default_factory=dict)
    refit_epochs: Mapping[str, int] = field(default_factory=dict)
    budget_shares: BudgetShares | None = None
    _queues: dict[str, _SearchQueue] = field(init=False)
    _groups: dict[Hashable, list[_SearchQueue]] = field(init=False, default_factory=dict)
    _retries: deque[TrialSpec] = field(init=False, default_factory=deque)
    _final_trials: deque[TrialSpec] = field(init=False, default_factory=deque)
    _trained_by: dict[str, str] = field(init=False, default_factory=dict)  # trial id -> search id
    _waiting: dict[str, list[TrialSpec]] = field(init=False, default_factory=dict)
    _copies: list[TrialSpec] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        """Queue the baseline; finals join when their search is over."""
        self._trained_by = {trial_id: found.search for trial_id, found in self.committed.items()}
        self._queues = {run.search.id: _SearchQueue(run) for run in self.runs}
        for queue in self._queues.values():
            self._groups.setdefault(self._group_of(queue.run.search), []).append(queue)
        self._final_trials.extend(
            spec for spec in self.baselines if spec.trial_id not in self.committed
        )

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
        for search_id, queue in self._queues.items():
            self._retries.extend(
                queue.run.restore(asks.get(search_id, ()), dict(outcomes.get(search_id, {})))
            )
        for search_id in sorted(self._queues, key=lambda name: name not in had_trained):
            self._plan_finals_of_group(self._queues[search_id])
        # In a study that has grown, a search with finals need not wait for new searches.
        begun = {trial.search for trial in self.committed.values()}
        for search_id, queue in self._queues.items():
            if queue.finals is None and queue.run.is_over and search_id in begun:
                self._plan_finals(queue)

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
        allowed = self._allowed(num_slots)
        while askable := [run for run in allowed if run.can_suggest]:
            run = min(askable, key=lambda run: run.share_used)
            ask, spec = run.suggest()
            write_ask(ask)
            if spec is not None:
                return spec
            self._plan_finals_of_group(
                self._queues[run.search.id]
            )  # the space may be exhausted now
        return self._final_trials.popleft() if self._final_trials else None

    def end_early(self, ended: Iterable[str]) -> None:
        """Have these searches suggest no more, before anything is restored."""
        for search_id in ended:
            if search_id in self._queues:
                self._queues[search_id].run.end_early()

    def take_copies(self) -> list[TrialSpec]:
        """Copies to commit now, because their originals have rows; each is given once."""
        due, self._copies = self._copies, []
        return due

    def requeue(self, spec: TrialSpec) -> None:
        """Run a trial again, before all others: its worker was lost."""
        self._retries.append(spec)

    def continues(self, spec: TrialSpec, step: int, best_so_far: float) -> bool:
        """Whether a search trial may train past ``step``."""
        return self._queues[spec.search.id].run.continues(spec.trial_id, step, best_so_far)

    def rung_at(self, spec: TrialSpec, step: int) -> int | None:
        """The rung of the trial's search that lies at ``step``, or None."""
        return self._queues[spec.search.id].run.rung_at(step)

    def finish(self, spec: TrialSpec, outcome: Outcome) -> None:
        """Take in the outcome of a committed trial."""
        if spec.stage != "search":
            self.finish_final(spec, outcome.state)
            return
        queue = self._queues[spec.search.id]
        queue.run.finish(spec.trial_id, outcome)
        self._plan_finals_of_group(queue)

    def finish_final(self, spec: TrialSpec, state: str | None = None) -> None:
        """Take in that a final or baseline has a row; a copy's state is its original's."""
        if state is None:
            assert spec.same_as is not None, "only a copy has the state of another trial"
            state = self.committed[spec.same_as].state
        self.committed[spec.trial_id] = Committed(search=spec.search.id, state=state)
        self._copies += self._waiting.pop(spec.trial_id, [])
        queue = self._queues.get(spec.search.id)
        if queue is not None:
            queue.count(spec, state)

    @property
    def num_planned(self) -> int:
        """Trials of the whole study; exact once every search is over."""
        searches = sum(run.num_planned for run in self.runs)
        finals = sum(self._planned_finals(queue) for queue in self._queues.values())
        return searches + finals + len(self.baselines)

    @property
    def num_done(self) -> int:
        """Trials that have ended, in any stage."""
        searches = sum(queue.run.num_ended for queue in self._queues.values())
        finals = sum(queue.finals_done for queue in self._queues.values())
        return searches + finals + self._baselines_in(lambda _: True)

    @property
    def num_trained(self) -> int:
        """Trials that have ended, without copies, which cost nothing."""
        return self.num_done - sum(queue.copies_done for queue in self._queues.values())

    @property
    def num_to_train(self) -> int:
        """Trials of the whole study without copies, as far as these are known."""
        return self.num_planned - sum(queue.copies for queue in self._queues.values())

    @property
    def num_failed(self) -> int:
        """Trials that failed, in any stage."""
        searches = sum(queue.run.count("FAILED") for queue in self._queues.values())
        finals = sum(queue.finals_failed for queue in self._queues.values())
        return searches + finals + self._baselines_in(lambda state: state == "FAILED")

    def progress(self, running: Sequence[TrialSpec]) -> tuple[SearchProgress, ...]:
        """Progress of each search.

        Args:
            running: specifications of the trials that run now.
        """
        counts: dict[str, int] = {}
        for spec in running:
            counts[spec.search.id] = counts.get(spec.search.id, 0) + 1
        return tuple(
            self._progress_of(queue, counts.get(search_id, 0))
            for search_id, queue in self._queues.items()
        )

    def _may_start(self, spec: TrialSpec) -> bool:
        if spec.stage != "search":
            return True
        return self._queues[spec.search.id].run.may_start(spec.trial_id)

    def _allowed(self, num_slots: int) -> list[SearchRun]:
        """The searches whose share of the budget lets them train one trial more.

        Once none has any left, and no trial runs that may leave budget over, all of them end.
        """
        wanting = [queue for queue in self._queues.values() if queue.run.wants_more]
        if self.budget_shares is None or not wanting:
            return [queue.run for queue in wanting]
        allowed = self.budget_shares.allowed(
            [self._claim(queue) for queue in self._queues.values()],
            baselines_left=len(self.baselines) - self._baselines_in(lambda _: True),
            num_slots=num_slots,
        )
        runs = [queue.run for queue in wanting if queue.run.search.id in allowed]
        every = [queue.run for queue in self._queues.values()]
        if not runs and all(run.num_ended == run.num_distinct for run in every):
            self.budget_shares.end(
                {queue.run.search.id: queue.run.num_distinct for queue in wanting}
            )
            self.end_early([queue.run.search.id for queue in wanting])
            for queue in wanting:
                self._plan_finals_of_group(queue)
        return runs

    def _claim(self, queue: _SearchQueue) -> Claim:
        return Claim(
            search=queue.run.search,
            wants_more=queue.run.wants_more,
            trials=queue.run.num_distinct,
            finals_left=self._finals_to_train(queue),
        )

    def _finals_to_train(self, queue: _SearchQueue) -> int:
        """Number of finals to train; as many as are planned while copies are not known."""
        if queue.finals is None:
            return self._planned_finals(queue)
        return sum(
            spec.same_as is None and spec.trial_id not in self.committed for spec in queue.finals
        )

    def _group_of(self, search: Search) -> Hashable:
        """Key of the searches that have to wait for each other."""
        if self.study.search.order == "deterministic":
            return search.block, search.loss, search.repeat
        return search.id

    def _plan_finals_of_group(self, queue: _SearchQueue) -> None:
        """Plan the finals of a search and those of its group, once all of these are over."""
        group = self._groups[self._group_of(queue.run.search)]
        if queue.finals is None and all(member.run.is_over for member in group):
            for member in group:
                if member.finals is None:
                    self._plan_finals(member)

    def _plan_finals(self, queue: _SearchQueue) -> None:
        run = queue.run
        finalists = tuple(self._as_before(run.search, finalist) for finalist in run.finalists())
        specs = self.maker.final_trials(run.search, finalists, run.num_distinct)
        queue.finals = tuple(map(self._or_copy, specs))
        queue.copies = sum(spec.same_as is not None for spec in queue.finals)
        for spec in queue.finals:
            trial = self.committed.get(spec.trial_id)
            if trial is None:
                self._queue_final(spec)
            else:
                queue.count(spec, trial.state)

    def _as_before(self, search: Search, finalist: Finalist) -> Finalist:
        epoch = self.refit_epochs.get(search.id) if finalist.is_default else None
        return finalist if epoch is None else replace(finalist, selected_epoch=epoch)

    def _or_copy(self, spec: TrialSpec) -> TrialSpec:
        """The specification itself, or a copy if another search has the same training done."""
        search_id = spec.search.id
        # A search that holds a copy keeps it, also if its original was lost from the store.
        has_copy = copy_id(spec.trial_id, search_id) in self.committed
        if not has_copy and self._trained_by.setdefault(spec.trial_id, search_id) == search_id:
            return spec
        return spec.copy(self._trained_by.get(spec.trial_id, ""))

    def _queue_final(self, spec: TrialSpec) -> None:
        if spec.same_as is None:
            self._final_trials.append(spec)
        elif spec.same_as in self.committed:
            self._copies.append(spec)
        else:
            self._waiting.setdefault(spec.same_as, []).append(spec)

    def _planned_finals(self, queue: _SearchQueue) -> int:
        if queue.finals is not None:
            return len(queue.finals)
        return NUM_FINALISTS * num_final_runs(self.study, queue.run.search)

    def _baselines_in(self, wanted: Callable[[str], bool]) -> int:
        found = [self.committed.get(spec.trial_id) for spec in self.baselines]
        return sum(trial is not None and wanted(trial.state) for trial in found)

    def _progress_of(self, queue: _SearchQueue, running: int) -> SearchProgress:
        run = queue.run
        return SearchProgress(
            name=search_name(self.study, run.search),
            planned=run.num_planned,
            is_cut_short=run.is_cut_short,
            done=run.num_ended,
            running=running,
            pruned=run.count("PRUNED"),
            failed=run.count("FAILED") + queue.finals_failed,
            duplicates=run.num_duplicates,
            best=run.best,
            finals_done=queue.finals_done,
            finals_planned=self._planned_finals(queue),
        )
