"""One running search: its suggestions in order, their outcomes, early stopping and winner."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush

from podium.orchestrator.ids_and_seeds import config_hash
from podium.orchestrator.results.records.journal_records import Ask, AskSource
from podium.orchestrator.scheduling.early_stopping import EarlyStopper
from podium.orchestrator.search_samplers.suggester import Outcome, Suggester, TrialState
from podium.orchestrator.study.study import Search, SearchSettings
from podium.orchestrator.trials.specification import Config, Finalist, TrialSpec

# So many duplicate suggestions in a row mean that the space is exhausted.
_MAX_DUPLICATES_IN_A_ROW = 20


class SearchRun:
    """The state of one search, rebuilt from its asks and outcomes at start.

    With ``order: deterministic`` suggestion i sees exactly the outcomes of suggestions
    0..i - lag, in index order, whatever finished first; rungs are decided in the same way.

    Args:
        first: configs that are trained before it draws any, the published default first.
        spec: makes the specification of a suggestion's trial from its index and config.
        early_stopper: decides which trials are stopped early.

    Attributes:
        is_cancelled: whether it suggests no more since the user does not want its trials.
    """

    def __init__(
        self,
        search: Search,
        settings: SearchSettings,
        suggester: Suggester,
        first: Sequence[Config],
        spec: Callable[[int, Config], TrialSpec],
        early_stopper: EarlyStopper,
    ) -> None:
        self.search = search
        self._settings = settings
        self._suggester = suggester
        self._first = first
        self._spec = spec
        self.early_stopper = early_stopper
        self._asks: list[Ask] = []
        self._first_index: dict[str, int] = {}  # trial id -> its first suggestion
        self._outcomes: dict[str, Outcome] = {}
        # Kept where they change: looking through all suggestions takes longer with each of them.
        self._states: Counter[TrialState] = Counter()
        self._best: tuple[float, int] | None = None  # objective, and minus the index
        self._open: dict[str, list[int]] = {}  # trial id -> its suggestions, until it has ended
        self._to_tell: list[int] = []  # heap of those that have ended, not known to the suggester
        self._num_known_ended = 0  # so many first suggestions have ended; there may be more
        self._num_repeated = 0  # duplicates since the last new trial
        self._is_ended = False
        self.is_cancelled = False

    # What it is now.

    @property
    def num_distinct(self) -> int:
        """Suggestions that are trials of their own; only these count."""
        return len(self._first_index)

    @property
    def num_duplicates(self) -> int:
        """Suggestions of a config that had been suggested before."""
        return len(self._asks) - self.num_distinct

    @property
    def num_ended(self) -> int:
        """Distinct trials that have ended."""
        return len(self._outcomes)

    @property
    def num_planned(self) -> int:
        """Distinct trials of the whole search; exact once it is over."""
        return self.num_distinct if self.is_over else self._settings.trials

    @property
    def is_cut_short(self) -> bool:
        """Whether it was ended before it had all its trials."""
        return self._is_ended and self.num_distinct < self._settings.trials

    @property
    def is_exhausted(self) -> bool:
        """Whether the space has nothing new to offer."""
        return self._num_repeated >= _MAX_DUPLICATES_IN_A_ROW or self._suggester.is_exhausted

    @property
    def is_over(self) -> bool:
        """Whether every trial of the search has ended."""
        return not self.wants_more and self.num_ended == self.num_distinct

    @property
    def can_suggest(self) -> bool:
        """Whether another suggestion may be drawn now."""
        if not self.wants_more:
            return False
        if self._settings.order == "asynchronous" and not self._suggester.wants_all_outcomes:
            return True
        return self._have_ended(self._num_visible)

    def may_start(self, trial_id: str) -> bool:
        """Whether a trial that was suggested before may run now.

        In deterministic order a rung compares it with all suggestions at least ``lag`` before it,
        so these have to be over. They are, unless one of them failed and is retried.
        """
        if self._settings.order == "asynchronous":
            return True
        return self._have_ended(self._first_index[trial_id] - self._settings.lag + 1)

    @property
    def wants_more(self) -> bool:
        """Whether it has trials left to suggest, now or once others have ended."""
        is_ended = self._is_ended or self.is_cancelled
        has_all = is_ended or self.num_distinct >= self._settings.trials
        return not has_all and not self.is_exhausted

    def count(self, state: TrialState) -> int:
        """Number of distinct trials that ended in ``state``; may be called from another thread."""
        return self._states[state]

    @property
    def best(self) -> float | None:
        """Best objective among complete trials; None without any."""
        best = self._best
        return None if best is None else best[0]

    @property
    def winner(self) -> Ask | None:
        """The complete trial with the best objective, the earliest on ties; None without any."""
        best = self._best
        return None if best is None else self._asks[-best[1]]

    def finalists(self) -> tuple[Finalist, ...]:
        """The published default and the winner: one entry if they are the same config."""
        winner = self.winner
        asks = dict.fromkeys((0, winner.index if winner is not None else 0))
        return tuple(
            Finalist(
                config=ask.hyperparameters,
                is_default=ask.index == 0,
                is_winner=ask is winner,
                selected_epoch=self._outcomes[ask.trial_id].selected_epoch,
            )
            for ask in (self._asks[index] for index in asks)
        )

    # What it does.

    def suggest(self) -> tuple[Ask, TrialSpec | None]:
        """Draw the next suggestion; the specification is None if its trial is a duplicate."""
        index = len(self._asks)
        self._tell_visible()
        source: AskSource = "default" if index == 0 else "given"
        if index < len(self._first):
            config = self._first[index]
            self._suggester.set_suggestion(index, config)
        else:
            config, source = self._suggester.suggest(index), "sampler"
        spec = self._spec(index, config)
        ask = Ask(
            search=self.search.id,
            index=index,
            trial_id=spec.trial_id,
            config_hash=config_hash(config),
            hyperparameters=dict(config),
            source=source,
        )
        return ask, spec if self._note(ask) else None

    def end_early(self) -> None:
        """Suggest no more, because its share of the study's budget is used up."""
        self._is_ended = True

    def finish(self, trial_id: str, outcome: Outcome) -> None:
        """Take in how a trial ended."""
        self._note_outcome(trial_id, outcome)
        if self._settings.order == "asynchronous":
            self._tell_visible()

    def continues(self, trial_id: str, step: int, best_so_far: float) -> bool:
        """Whether the trial may train past ``step``."""
        index = self._first_index[trial_id]
        is_free = self._settings.order == "asynchronous"
        last_rival = math.inf if is_free else index - self._settings.lag
        return self.early_stopper.continues(index, step, best_so_far, last_rival)

    def restore(self, asks: Iterable[Ask], outcomes: dict[str, Outcome]) -> list[TrialSpec]:
        """Restore the state of the search from its asks by index, and outcomes by trial id.

        Returns:
            Specifications of trials that were suggested and have no outcome yet.
        """
        unresolved: list[TrialSpec] = []
        for ask in asks:
            self._tell_visible()
            self._suggester.set_suggestion(ask.index, ask.hyperparameters)
            is_new = self._note(ask)
            outcome = outcomes.get(ask.trial_id)
            if is_new and outcome is None:
                unresolved.append(self._spec(ask.index, ask.hyperparameters))
            elif is_new and outcome is not None:
                self._note_outcome(ask.trial_id, outcome)
                for step, score in outcome.path:
                    self.early_stopper.continues(ask.index, step, score)
        self._tell_visible()
        return unresolved

    def _note(self, ask: Ask) -> bool:
        """Take in a suggestion; whether its trial is new."""
        self._asks.append(ask)
        is_new = self._first_index.setdefault(ask.trial_id, ask.index) == ask.index
        self._num_repeated = 0 if is_new else self._num_repeated + 1
        if ask.trial_id in self._outcomes:
            heappush(self._to_tell, ask.index)
        else:
            self._open.setdefault(ask.trial_id, []).append(ask.index)
        return is_new

    def _note_outcome(self, trial_id: str, outcome: Outcome) -> None:
        self._outcomes[trial_id] = outcome
        self._states[outcome.state] += 1
        for index in self._open.pop(trial_id, ()):
            heappush(self._to_tell, index)
        if outcome.state == "COMPLETE" and outcome.objective is not None:
            complete = outcome.objective, -self._first_index[trial_id]
            self._best = complete if self._best is None else max(self._best, complete)

    def _have_ended(self, number: int) -> bool:
        """Whether the trials of so many first suggestions have ended, which they do for good."""
        while self._num_known_ended < min(number, len(self._asks)):
            if self._asks[self._num_known_ended].trial_id not in self._outcomes:
                return False
            self._num_known_ended += 1
        return True

    @property
    def _num_visible(self) -> int:
        """So many first suggestions the next one is to see the outcomes of."""
        if self._settings.order == "deterministic" and not self._suggester.wants_all_outcomes:
            return len(self._asks) - self._settings.lag + 1
        return len(self._asks)

    def _tell_visible(self) -> None:
        """Tell the suggester the outcomes it does not know, in the order of the suggestions."""
        num_visible = self._num_visible
        while self._to_tell and self._to_tell[0] < num_visible:
            index = heappop(self._to_tell)
            self._suggester.tell(index, self._outcomes[self._asks[index].trial_id])
