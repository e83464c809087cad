"""What is left to run: searches by fair share, then the trials of the final stage."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from orchestrator.orders import OrderMaker, TrialOrder
from orchestrator.progress import SearchProgress
from orchestrator.results.asks import Ask
from orchestrator.search_run import Outcome, SearchRun
from orchestrator.study import Study

__all__ = ["StudyQueues"]


@dataclass(slots=True)
class _Line:
    """One search with its final stage."""

    run: SearchRun
    finals: tuple[TrialOrder, ...] | None = None
    finals_done: int = 0
    finals_failed: int = 0


@dataclass(slots=True)
class StudyQueues:
    """All work of a study. Rebuilt from the store by `restore`; holds nothing else of its own.

    Attributes:
        committed: state of every trial of the final and baseline stages that has a row.
    """

    study: Study
    maker: OrderMaker
    runs: Sequence[SearchRun]
    baselines: Sequence[TrialOrder]
    committed: dict[str, str] = field(default_factory=dict)
    _lines: dict[str, _Line] = field(init=False)
    _again: deque[TrialOrder] = field(init=False, default_factory=deque)
    _tests: deque[TrialOrder] = field(init=False, default_factory=deque)

    def __post_init__(self) -> None:
        """Queue the baseline; finals join when their search is over."""
        self._lines = {run.search.id: _Line(run) for run in self.runs}
        self._tests.extend(
            order for order in self.baselines if order.trial_id not in self.committed
        )

    def restore(
        self, asks: Mapping[str, Sequence[Ask]], outcomes: Mapping[str, Mapping[str, Outcome]]
    ) -> None:
        """Take up every search where the store left off; unfinished trials go first."""
        for search_id, line in self._lines.items():
            self._again.extend(
                line.run.restore(asks.get(search_id, ()), dict(outcomes.get(search_id, {})))
            )
            self._call_finals(line)

    def next_order(self, write_ask: Callable[[Ask], None]) -> TrialOrder | None:
        """The next trial, or None if nothing can start before a running trial ends.

        Lost and interrupted trials come first, then the search that has used the smallest part
        of its budget, then baselines and finals.
        """
        if self._again:
            return self._again.popleft()
        while askable := [line.run for line in self._lines.values() if line.run.can_suggest]:
            run = min(askable, key=lambda run: run.share_used)
            ask, order = run.suggest()
            write_ask(ask)
            if order is not None:
                return order
            self._call_finals(self._lines[run.search.id])  # the space may be exhausted now
        return self._tests.popleft() if self._tests else None

    def put_back(self, order: TrialOrder) -> None:
        """Run a trial again whose worker was lost."""
        self._again.append(order)

    def goes_on(self, order: TrialOrder, step: int, best_so_far: float) -> bool:
        """Whether a search trial may train past ``step``."""
        return self._lines[order.search.id].run.goes_on(order.trial_id, step, best_so_far)

    def rung_at(self, order: TrialOrder, step: int) -> int | None:
        """The rung of the trial's search that lies at ``step``, or None."""
        return self._lines[order.search.id].run.rung_at(step)

    def finish(self, order: TrialOrder, outcome: Outcome) -> None:
        """Take in the outcome of a committed trial."""
        if order.stage != "search":
            self.committed[order.trial_id] = outcome.state
            line = self._lines.get(order.search.id)
            if line is not None:
                line.finals_done += 1
                line.finals_failed += outcome.state == "FAILED"
            return
        line = self._lines[order.search.id]
        line.run.finish(order.trial_id, outcome)
        self._call_finals(line)

    @property
    def num_planned(self) -> int:
        """Trials of the whole study; exact once every search is over."""
        searches = sum(self._planned(line.run) for line in self._lines.values())
        finals = sum(self._planned_finals(line) for line in self._lines.values())
        return searches + finals + len(self.baselines)

    @property
    def num_done(self) -> int:
        """Trials that have ended, in any stage."""
        searches = sum(line.run.num_resolved for line in self._lines.values())
        finals = sum(line.finals_done for line in self._lines.values())
        return searches + finals + self._baselines_in(lambda _: True)

    @property
    def num_failed(self) -> int:
        """Trials that failed, in any stage."""
        searches = sum(line.run.count("FAILED") for line in self._lines.values())
        finals = sum(line.finals_failed for line in self._lines.values())
        return searches + finals + self._baselines_in(lambda state: state == "FAILED")

    def progress(self, running: Sequence[TrialOrder]) -> tuple[SearchProgress, ...]:
        """Where each search stands."""
        counts: dict[str, int] = {}
        for order in running:
            counts[order.search.id] = counts.get(order.search.id, 0) + 1
        return tuple(
            self._progress_of(line, counts.get(search_id, 0))
            for search_id, line in self._lines.items()
        )

    def _call_finals(self, line: _Line) -> None:
        if line.finals is not None or not line.run.is_over:
            return
        run = line.run
        line.finals = self.maker.final_trials(run.search, run.finalists(), run.num_distinct)
        states = [self.committed.get(order.trial_id) for order in line.finals]
        line.finals_done = sum(state is not None for state in states)
        line.finals_failed = states.count("FAILED")
        self._tests.extend(
            order for order, state in zip(line.finals, states, strict=True) if state is None
        )

    def _planned(self, run: SearchRun) -> int:
        return run.num_distinct if run.is_over else self.study.search.trials

    def _planned_finals(self, line: _Line) -> int:
        if line.finals is not None:
            return len(line.finals)
        protocol = self.study.final.protocol or self.study.protocol
        return 2 * self.study.final.seeds * protocol.num_folds

    def _baselines_in(self, wanted: Callable[[str], bool]) -> int:
        states = [self.committed.get(order.trial_id) for order in self.baselines]
        return sum(state is not None and wanted(state) for state in states)

    def _progress_of(self, line: _Line, running: int) -> SearchProgress:
        run = line.run
        return SearchProgress(
            name=f"{run.search.block.label} {run.search.loss}",
            planned=self._planned(run),
            done=run.num_resolved,
            running=running,
            pruned=run.count("PRUNED"),
            failed=run.count("FAILED") + line.finals_failed,
            duplicates=run.num_duplicates,
            best=run.best,
            finals_done=line.finals_done,
            finals_planned=self._planned_finals(line),
        )
