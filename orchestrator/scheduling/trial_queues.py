"""What is left to run: searches by fair share, then the trials of the final stage."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from orchestrator.ids_and_seeds import copy_id
from orchestrator.results.records.asks import Ask
from orchestrator.scheduling.budget_shares import BudgetShares, Claim
from orchestrator.scheduling.committed_outcomes import Committed
from orchestrator.scheduling.running_search import Outcome, SearchRun
from orchestrator.scheduling.study_progress import SearchProgress, search_name
from orchestrator.study.blocks import NUM_FINALISTS, num_final_runs
from orchestrator.study.study import Search, Study
from orchestrator.trials.trial_spec import TrialSpec
from orchestrator.trials.trial_spec_maker import TrialSpecMaker

__all__ = ["StudyQueues"]


@dataclass(slots=True)
class _Line:
    """One search with its final stage."""

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

    Finals of two searches may be one training, as where both picked the same config. The first to
    ask for it has it run, the others wait for it and take a copy of its row. Only searches of one
    block, loss and repeat can meet so; in deterministic order none of these asks before all are
    over, so that it does not depend on their speed who is first.

    Attributes:
        committed: every trial of the final and baseline stages that has a row.
        rations: shares of a budget of hours; None where there is none, or nothing is to run.
    """

    study: Study
    maker: TrialSpecMaker
    runs: Sequence[SearchRun]
    baselines: Sequence[TrialSpec]
    committed: dict[str, Committed] = field(default_factory=dict)
    rations: BudgetShares | None = None
    _lines: dict[str, _Line] = field(init=False)
    _rivals: dict[Hashable, list[_Line]] = field(init=False, default_factory=dict)
    _again: deque[TrialSpec] = field(init=False, default_factory=deque)
    _tests: deque[TrialSpec] = field(init=False, default_factory=deque)
    _asked_by: dict[str, str] = field(init=False, default_factory=dict)  # trial id -> search id
    _waiting: dict[str, list[TrialSpec]] = field(init=False, default_factory=dict)
    _copies: list[TrialSpec] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        """Queue the baseline; finals join when their search is over."""
        self._asked_by = {trial_id: found.search for trial_id, found in self.committed.items()}
        self._lines = {run.search.id: _Line(run) for run in self.runs}
        for line in self._lines.values():
            self._rivals.setdefault(self._meeting_place(line.run.search), []).append(line)
        self._tests.extend(spec for spec in self.baselines if spec.trial_id not in self.committed)

    def restore(
        self, asks: Mapping[str, Sequence[Ask]], outcomes: Mapping[str, Mapping[str, Outcome]]
    ) -> None:
        """Take up every search where the store left off; unfinished trials go first."""
        for search_id, line in self._lines.items():
            self._again.extend(
                line.run.restore(asks.get(search_id, ()), dict(outcomes.get(search_id, {})))
            )
        for line in self._lines.values():
            self._call_finals(line)
        # Of a study that has grown, what has finals already need not wait for what is new.
        begun = {trial.search for trial in self.committed.values()}
        for search_id, line in self._lines.items():
            if line.finals is None and line.run.is_over and search_id in begun:
                self._ask_for_finals(line)

    def next_spec(self, write_ask: Callable[[Ask], None]) -> TrialSpec | None:
        """The next trial, or None if nothing can start before a running trial ends.

        Lost and interrupted trials come first, then the search that has used the smallest part
        of its budget, then baselines and finals.
        """
        if self._again:
            return self._again.popleft()
        allowed = self._allowed()
        while askable := [run for run in allowed if run.can_suggest]:
            run = min(askable, key=lambda run: run.share_used)
            ask, spec = run.suggest()
            write_ask(ask)
            if spec is not None:
                return spec
            self._call_finals(self._lines[run.search.id])  # the space may be exhausted now
        return self._tests.popleft() if self._tests else None

    def end_early(self, ended: Iterable[str]) -> None:
        """Have these searches suggest no more, before anything is restored."""
        for search_id in ended:
            if search_id in self._lines:
                self._lines[search_id].run.end_early()

    def take_copies(self) -> list[TrialSpec]:
        """Orders that are no work: the trials they are copies of have rows by now."""
        due, self._copies = self._copies, []
        return due

    def put_back(self, spec: TrialSpec) -> None:
        """Run a trial again whose worker was lost."""
        self._again.append(spec)

    def goes_on(self, spec: TrialSpec, step: int, best_so_far: float) -> bool:
        """Whether a search trial may train past ``step``."""
        return self._lines[spec.search.id].run.goes_on(spec.trial_id, step, best_so_far)

    def rung_at(self, spec: TrialSpec, step: int) -> int | None:
        """The rung of the trial's search that lies at ``step``, or None."""
        return self._lines[spec.search.id].run.rung_at(step)

    def finish(self, spec: TrialSpec, outcome: Outcome) -> None:
        """Take in the outcome of a committed trial."""
        if spec.stage != "search":
            self.finish_test(spec, outcome.state)
            return
        line = self._lines[spec.search.id]
        line.run.finish(spec.trial_id, outcome)
        self._call_finals(line)

    def finish_test(self, spec: TrialSpec, state: str | None = None) -> None:
        """Take in that a final or baseline has a row; a copy's state is its original's."""
        if state is None:
            assert spec.same_as is not None, "only a copy has the state of another trial"
            state = self.committed[spec.same_as].state
        self.committed[spec.trial_id] = Committed(search=spec.search.id, state=state)
        self._copies += self._waiting.pop(spec.trial_id, [])
        line = self._lines.get(spec.search.id)
        if line is not None:
            line.count(spec, state)

    @property
    def num_planned(self) -> int:
        """Trials of the whole study; exact once every search is over."""
        searches = sum(run.num_planned for run in self.runs)
        finals = sum(self._planned_finals(line) for line in self._lines.values())
        return searches + finals + len(self.baselines)

    @property
    def num_done(self) -> int:
        """Trials that have ended, in any stage."""
        searches = sum(line.run.num_resolved for line in self._lines.values())
        finals = sum(line.finals_done for line in self._lines.values())
        return searches + finals + self._baselines_in(lambda _: True)

    @property
    def num_trained(self) -> int:
        """Trials that have ended, but for copies: these cost nothing."""
        return self.num_done - sum(line.copies_done for line in self._lines.values())

    @property
    def num_to_train(self) -> int:
        """Of the whole study, as far as it is known which finals are copies."""
        return self.num_planned - sum(line.copies for line in self._lines.values())

    @property
    def num_failed(self) -> int:
        """Trials that failed, in any stage."""
        searches = sum(line.run.count("FAILED") for line in self._lines.values())
        finals = sum(line.finals_failed for line in self._lines.values())
        return searches + finals + self._baselines_in(lambda state: state == "FAILED")

    def progress(self, running: Sequence[TrialSpec]) -> tuple[SearchProgress, ...]:
        """Where each search stands."""
        counts: dict[str, int] = {}
        for spec in running:
            counts[spec.search.id] = counts.get(spec.search.id, 0) + 1
        return tuple(
            self._progress_of(line, counts.get(search_id, 0))
            for search_id, line in self._lines.items()
        )

    def _allowed(self) -> list[SearchRun]:
        """The searches whose share of the budget lets them train one trial more.

        Once none has any left, and no trial runs that may leave something over, all of them end.
        """
        wanting = [line for line in self._lines.values() if line.run.wants_more]
        if self.rations is None or not wanting:
            return [line.run for line in wanting]
        allowed = self.rations.allowed(
            [self._claim(line) for line in self._lines.values()],
            baselines_left=len(self.baselines) - self._baselines_in(lambda _: True),
        )
        runs = [line.run for line in wanting if line.run.search.id in allowed]
        every = [line.run for line in self._lines.values()]
        if not runs and all(run.num_resolved == run.num_distinct for run in every):
            self.rations.end({line.run.search.id: line.run.num_distinct for line in wanting})
            self.end_early([line.run.search.id for line in wanting])
            for line in wanting:
                self._call_finals(line)
        return runs

    def _claim(self, line: _Line) -> Claim:
        return Claim(
            search=line.run.search,
            wants_more=line.run.wants_more,
            trials=line.run.num_distinct,
            finals_left=self._finals_to_train(line),
        )

    def _finals_to_train(self, line: _Line) -> int:
        """As many as are planned, as long as it is not known which of them are copies."""
        if line.finals is None:
            return self._planned_finals(line)
        return sum(
            spec.same_as is None and spec.trial_id not in self.committed for spec in line.finals
        )

    def _meeting_place(self, search: Search) -> Hashable:
        """Equal for searches that have to wait for each other."""
        if self.study.search.order == "deterministic":
            return search.block, search.loss, search.repeat
        return search.id

    def _call_finals(self, line: _Line) -> None:
        """Ask for the finals of a search that is over, if no other has to be waited for."""
        rivals = self._rivals[self._meeting_place(line.run.search)]
        if line.finals is None and all(rival.run.is_over for rival in rivals):
            for rival in rivals:
                if rival.finals is None:
                    self._ask_for_finals(rival)

    def _ask_for_finals(self, line: _Line) -> None:
        run = line.run
        specs = self.maker.final_trials(run.search, run.finalists(), run.num_distinct)
        line.finals = tuple(map(self._once, specs))
        line.copies = sum(spec.same_as is not None for spec in line.finals)
        for spec in line.finals:
            trial = self.committed.get(spec.trial_id)
            if trial is None:
                self._queue_final(spec)
            else:
                line.count(spec, trial.state)

    def _once(self, spec: TrialSpec) -> TrialSpec:
        """The order itself, or a copy where another search asked for the same training."""
        search_id = spec.search.id
        # A search that holds a copy keeps it, also if its original was lost from the store.
        has_copy = copy_id(spec.trial_id, search_id) in self.committed
        if not has_copy and self._asked_by.setdefault(spec.trial_id, search_id) == search_id:
            return spec
        return spec.copy(self._asked_by.get(spec.trial_id, ""))

    def _queue_final(self, spec: TrialSpec) -> None:
        if spec.same_as is None:
            self._tests.append(spec)
        elif spec.same_as in self.committed:
            self._copies.append(spec)
        else:
            self._waiting.setdefault(spec.same_as, []).append(spec)

    def _planned_finals(self, line: _Line) -> int:
        if line.finals is not None:
            return len(line.finals)
        return NUM_FINALISTS * num_final_runs(self.study, line.run.search)

    def _baselines_in(self, wanted: Callable[[str], bool]) -> int:
        found = [self.committed.get(spec.trial_id) for spec in self.baselines]
        return sum(trial is not None and wanted(trial.state) for trial in found)

    def _progress_of(self, line: _Line, running: int) -> SearchProgress:
        run = line.run
        return SearchProgress(
            name=search_name(self.study, run.search),
            planned=run.num_planned,
            is_cut_short=run.is_cut_short,
            done=run.num_resolved,
            running=running,
            pruned=run.count("PRUNED"),
            failed=run.count("FAILED") + line.finals_failed,
            duplicates=run.num_duplicates,
            best=run.best,
            finals_done=line.finals_done,
            finals_planned=self._planned_finals(line),
        )
