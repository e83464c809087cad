"""The final stage: baselines, and finals of each search, of which some are copies of others.

Finals of two searches may be one training, as where both picked the same config. The first search
to plan it has it trained, the others wait for it and take a copy of its row.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from podium.orchestrator.ids_and_seeds import copy_id
from podium.orchestrator.scheduling.committed_outcomes import Committed
from podium.orchestrator.scheduling.running_search import SearchRun
from podium.orchestrator.study.blocks import most_finals
from podium.orchestrator.study.study import Search, Study
from podium.orchestrator.trials.specification import Finalist, TrialSpec
from podium.orchestrator.trials.specification_maker import TrialSpecMaker


@dataclass(slots=True)
class FinalCounts:
    """Numbers of finals, or of baselines.

    Attributes:
        num_planned: number of them; as many as there may be until they are planned.
        num_done: number that have a row, copies included.
        num_failed: number of these that failed.
        num_copies: number that are copies of those of other searches.
        num_copies_done: number of copies that have a row.
    """

    num_planned: int = 0
    num_done: int = 0
    num_failed: int = 0
    num_copies: int = 0
    num_copies_done: int = 0

    def plan(self, change: int, num_copies: int) -> None:
        """They are planned: so many more, or fewer, than there might have been."""
        self.num_planned += change
        self.num_copies += num_copies

    def count(self, spec: TrialSpec, state: str) -> None:
        """One of them has a row."""
        self.num_done += 1
        self.num_failed += state == "FAILED"
        self.num_copies_done += spec.original is not None


@dataclass(slots=True)
class Finals(FinalCounts):
    """The finals of one search.

    Attributes:
        specs: their specifications; None until they are planned.
    """

    specs: tuple[TrialSpec, ...] | None = None


class FinalStage:
    """Finals and baselines of a study: what is done, what is to be trained, and what is copied.

    Args:
        study: the resolved study.
        searches: those whose finals are trained here.
        maker: makes the specifications of finals.
        baselines: specifications of the baseline trials of their blocks.
        committed: trial id -> every final and baseline trial that has a row.
        refit_epochs: search id -> epoch to which its published default is trained on all classes,
            where that is not the one its search selected: finals of it have rows, and its trial of
            the search was retried since.

    Attributes:
        of: search id -> its finals.
        baselines: the baseline trials of their blocks.
        counts: numbers of all finals and baselines together.
    """

    def __init__(
        self,
        study: Study,
        searches: Sequence[Search],
        maker: TrialSpecMaker,
        baselines: Sequence[TrialSpec],
        committed: Mapping[str, Committed],
        refit_epochs: Mapping[str, int],
    ) -> None:
        self._maker = maker
        self._refit_epochs = refit_epochs
        self._states = {trial_id: trial.state for trial_id, trial in committed.items()}
        self._trained_by = {trial_id: trial.search for trial_id, trial in committed.items()}
        self._begun = set(self._trained_by.values())
        self._to_train: deque[TrialSpec] = deque()
        self._waiting: dict[str, list[TrialSpec]] = {}  # by the id of their original
        self._due: list[TrialSpec] = []
        self.of = {search.id: Finals(most_finals(study, search)) for search in searches}
        self.baselines = Finals()
        self.counts = FinalCounts(sum(finals.num_planned for finals in self.of.values()))
        self._set(self.baselines, baselines)

    def are_planned(self, search: Search) -> bool:
        """Whether it is known which finals a search has."""
        return self.of[search.id].specs is not None

    def has_begun(self, search: Search) -> bool:
        """Whether earlier runs have committed finals of a search."""
        return search.id in self._begun

    def plan(self, run: SearchRun) -> None:
        """Plan the finals of a search that is over."""
        finalists = tuple(self._as_before(run.search, finalist) for finalist in run.finalists())
        specs = self._maker.final_trials(run.search, finalists, run.num_distinct)
        self._set(self.of[run.search.id], [self._or_copy(spec) for spec in specs])

    def leave_out(self, search: Search) -> None:
        """Have a search no finals."""
        self._set(self.of[search.id], ())

    def num_to_train(self, search: Search) -> int:
        """Number of finals to train; as many as are planned while copies are not known."""
        finals = self.of[search.id]
        if finals.specs is None:
            return finals.num_planned
        return len(tuple(self.left_of(finals.specs)))

    def left_of(self, specs: Iterable[TrialSpec]) -> Iterator[TrialSpec]:
        """Those of some finals or baselines that have no row yet, and are not copies."""
        return (
            spec for spec in specs if spec.original is None and spec.trial_id not in self._states
        )

    def next(self) -> TrialSpec | None:
        """The next trial to train; None if there is none now."""
        return self._to_train.popleft() if self._to_train else None

    def take_copies(self) -> list[TrialSpec]:
        """Copies to commit now, because their originals have rows; each is given once."""
        due, self._due = self._due, []
        return due

    def finish(self, spec: TrialSpec, state: str | None = None) -> None:
        """Take in that a trial has a row; a copy's state is its original's."""
        if state is None:
            assert spec.original is not None, "only a copy has the state of another trial"
            state = self._states[spec.original.trial_id]
        self._states[spec.trial_id] = state
        self._due += self._waiting.pop(spec.trial_id, [])
        self._count(self.of.get(spec.search.id, self.baselines), spec, state)

    def _count(self, finals: Finals, spec: TrialSpec, state: str) -> None:
        finals.count(spec, state)
        self.counts.count(spec, state)

    def _set(self, finals: Finals, specs: Sequence[TrialSpec]) -> None:
        assert finals.specs is None, "finals are planned once"
        finals.specs, change = tuple(specs), len(specs) - finals.num_planned
        num_copies = sum(spec.original is not None for spec in specs)
        for counts in (finals, self.counts):
            counts.plan(change, num_copies)
        for spec in specs:
            state = self._states.get(spec.trial_id)
            if state is not None:
                self._count(finals, spec, state)
            elif spec.original is None:
                self._to_train.append(spec)
            elif spec.original.trial_id in self._states:
                self._due.append(spec)
            else:
                self._waiting.setdefault(spec.original.trial_id, []).append(spec)

    def _as_before(self, search: Search, finalist: Finalist) -> Finalist:
        epoch = self._refit_epochs.get(search.id) if finalist.is_default else None
        return finalist if epoch is None else replace(finalist, selected_epoch=epoch)

    def _or_copy(self, spec: TrialSpec) -> TrialSpec:
        """The specification itself, or a copy if another search has the same training done."""
        search_id = spec.search.id
        # A search that holds a copy keeps it, also if its original was lost from the store.
        has_copy = copy_id(spec.trial_id, search_id) in self._states
        if not has_copy and self._trained_by.setdefault(spec.trial_id, search_id) == search_id:
            return spec
        return spec.copy(self._trained_by.get(spec.trial_id, ""))
