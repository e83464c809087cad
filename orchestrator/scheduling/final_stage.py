"""The final stage: baselines, and finals of each search, of which some are copies of others.

Finals of two searches may be one training, as where both picked the same config. The first search
to plan it has it trained, the others wait for it and take a copy of its row.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from podium.orchestrator.ids_and_seeds import copy_id
from podium.orchestrator.scheduling.running_search import SearchRun
from podium.orchestrator.study.blocks import most_finals
from podium.orchestrator.study.study import Search, Study
from podium.orchestrator.trials.specification import TrialSpec
from podium.orchestrator.trials.specification_maker import TrialSpecMaker


@dataclass(slots=True)
class Finals:
    """The finals of one search, or the baselines of a study.

    Attributes:
        num_planned: number of them; as many as there may be until they are planned.
        num_done: number that have a row, copies included.
        num_failed: number of these that failed.
        num_copies: number that are copies of those of other searches.
        num_copies_done: number of copies that have a row.
        specs: their specifications; None until they are planned.
    """

    num_planned: int = 0
    num_done: int = 0
    num_failed: int = 0
    num_copies: int = 0
    num_copies_done: int = 0
    specs: tuple[TrialSpec, ...] | None = None

    @property
    def num_to_train(self) -> int:
        """Number of those without a row that are no copies, as far as these are known."""
        return self.num_planned - self.num_copies - (self.num_done - self.num_copies_done)

    def count(self, spec: TrialSpec, state: str) -> None:
        """One of them has a row."""
        self.num_done += 1
        self.num_failed += state == "FAILED"
        self.num_copies_done += spec.copy_of is not None


class FinalStage:
    """Finals and baselines of a study: what is done, what is to be trained, and what is copied.

    Args:
        searches: those whose finals are trained here.
        baselines: specifications of the baseline trials of their blocks.
        committed: trial id -> search id and state, of finals and baselines that have a row.
        refit_epochs: search id -> epoch to which its published default is trained on all classes,
            where that is not the one its search selected: finals of it have rows, and its trial of
            the search was retried since.

    Attributes:
        of: search id -> its finals.
        baselines: the baseline trials of their blocks.
    """

    def __init__(
        self,
        study: Study,
        searches: Sequence[Search],
        maker: TrialSpecMaker,
        baselines: Sequence[TrialSpec],
        committed: Mapping[str, tuple[str, str]],
        refit_epochs: Mapping[str, int],
    ) -> None:
        self._maker = maker
        self._refit_epochs = refit_epochs
        self._states = {trial_id: state for trial_id, (_, state) in committed.items()}
        self._trained_by = {trial_id: search for trial_id, (search, _) in committed.items()}
        self._begun = set(self._trained_by.values())
        self._to_train: deque[TrialSpec] = deque()
        self._waiting: dict[str, list[TrialSpec]] = {}  # by the id of their original
        self._due: list[TrialSpec] = []
        self.of = {search.id: Finals(most_finals(study, search)) for search in searches}
        self.baselines = Finals()
        self._set(self.baselines, baselines)

    @property
    def every(self) -> tuple[Finals, ...]:
        """The finals of each search, and the baselines."""
        return *self.of.values(), self.baselines

    def are_planned(self, search: Search) -> bool:
        """Whether it is known which finals a search has."""
        return self.of[search.id].specs is not None

    def has_begun(self, search: Search) -> bool:
        """Whether earlier runs have committed finals of a search."""
        return search.id in self._begun

    def plan(self, run: SearchRun) -> None:
        """Plan the finals of a search that is over."""
        default, *others = run.finalists()
        if (epoch := self._refit_epochs.get(run.search.id)) is not None:
            default = replace(default, selected_epoch=epoch)
        specs = self._maker.final_trials(run.search, (default, *others), run.num_distinct)
        self._set(self.of[run.search.id], [self._or_copy(spec) for spec in specs])

    def leave_out(self, search: Search) -> None:
        """Have a search no finals."""
        self._set(self.of[search.id], ())

    def next(self) -> TrialSpec | None:
        """The next trial to train; None if there is none now."""
        return self._to_train.popleft() if self._to_train else None

    def take_copies(self) -> dict[str, list[TrialSpec]]:
        """Search id -> copies to commit now, because it has the rows; each is given once."""
        due: dict[str, list[TrialSpec]] = {}
        for spec in self._due:
            due.setdefault(self._trained_by.get(spec.copy_of or "", ""), []).append(spec)
        self._due = []
        return due

    def finish(self, spec: TrialSpec, state: str | None = None) -> None:
        """Take in that a trial has a row; a copy's state is its original's."""
        if state is None:
            assert spec.copy_of is not None, "only a copy has the state of another trial"
            state = self._states[spec.copy_of]
        self._states[spec.trial_id] = state
        self._due += self._waiting.pop(spec.trial_id, [])
        self.of.get(spec.search.id, self.baselines).count(spec, state)

    def _set(self, finals: Finals, specs: Sequence[TrialSpec]) -> None:
        assert finals.specs is None, "finals are planned once"
        finals.specs, finals.num_planned = tuple(specs), len(specs)
        finals.num_copies = sum(spec.copy_of is not None for spec in specs)
        for spec in specs:
            state = self._states.get(spec.trial_id)
            if state is not None:
                finals.count(spec, state)
            elif spec.copy_of is None:
                self._to_train.append(spec)
            elif spec.copy_of in self._states:
                self._due.append(spec)
            else:
                self._waiting.setdefault(spec.copy_of, []).append(spec)

    def _or_copy(self, spec: TrialSpec) -> TrialSpec:
        """The specification itself, or a copy if another search has the same training done."""
        search_id = spec.search.id
        # A search that holds a copy keeps it, also if its original was lost from the store.
        has_copy = copy_id(spec.trial_id, search_id) in self._states
        if not has_copy and self._trained_by.setdefault(spec.trial_id, search_id) == search_id:
            return spec
        return spec.copy()
