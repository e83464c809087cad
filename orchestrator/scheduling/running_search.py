"""One running search: its suggestions in order, their outcomes, early stopping and winner."""

from collections.abc import Callable, Iterable, Sequence

from orchestrator.ids_and_seeds import config_hash
from orchestrator.results.records.asks import Ask, AskSource
from orchestrator.scheduling.early_stopping import EarlyStopper
from orchestrator.search_samplers.suggester import Outcome, Suggester, TrialState
from orchestrator.study.study import Search, SearchSettings
from orchestrator.trials.specification import Config, Finalist, TrialSpec

# So many duplicate suggestions in a row mean that the space is exhausted.
_MAX_DUPLICATES_IN_A_ROW = 20


class SearchRun:
    """The state of one search, rebuilt from its asks and outcomes at start.

    With ``order: deterministic`` suggestion i sees exactly the outcomes of suggestions
    0..i - lag, in index order, whatever finished first; rungs are decided in the same way.

    Args:
        search: the search.
        settings: settings of all searches of the study.
        suggester: draws its configs.
        first: configs that are trained before it draws any, the published default first.
        spec: makes the specification of a suggestion's trial from its index and config.
        early_stopper: decides which trials are stopped early.
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
        self._early_stopper = early_stopper
        self._asks: list[Ask] = []
        self._first_index: dict[str, int] = {}  # trial id -> its first suggestion
        self._outcomes: dict[str, Outcome] = {}
        self._unreported: dict[int, Ask] = {}
        self._is_ended = False
        self._is_cancelled = False

    # What it is now.

    @property
    def asks(self) -> tuple[Ask, ...]:
        """Its suggestions so far, by index."""
        return tuple(self._asks)

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
    def share_used(self) -> float:
        """Share of its trials that was handed out, in [0, 1]."""
        return self.num_distinct / self._settings.trials

    @property
    def num_planned(self) -> int:
        """Distinct trials of the whole search; exact once it is over."""
        return self.num_distinct if self.is_over else self._settings.trials

    @property
    def is_cut_short(self) -> bool:
        """Whether it was ended before it had all its trials."""
        return self._is_ended and self.num_distinct < self._settings.trials

    @property
    def is_cancelled(self) -> bool:
        """Whether the user cancelled it before it had all its trials."""
        return self._is_cancelled

    @property
    def is_exhausted(self) -> bool:
        """Whether the space has nothing new to offer."""
        if self._suggester.is_exhausted:
            return True
        tail = self._asks[-_MAX_DUPLICATES_IN_A_ROW:]
        return len(tail) == _MAX_DUPLICATES_IN_A_ROW and all(map(self._is_duplicate, tail))

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
        return all(ask.trial_id in self._outcomes for ask in self._unreported_visible())

    def may_start(self, trial_id: str) -> bool:
        """Whether a trial that was suggested before may run now.

        In deterministic order a rung compares it with all suggestions at least ``lag`` before it,
        so these have to be over. They are, unless one of them failed and is retried.
        """
        if self._settings.order == "asynchronous":
            return True
        last_rival = self._first_index[trial_id] - self._settings.lag
        return all(
            index > last_rival or other in self._outcomes
            for other, index in self._first_index.items()
        )

    @property
    def wants_more(self) -> bool:
        """Whether it has trials left to suggest, now or once others have ended."""
        is_ended = self._is_ended or self._is_cancelled
        has_all = is_ended or self.num_distinct >= self._settings.trials
        return not has_all and not self.is_exhausted

    def count(self, state: TrialState) -> int:
        """Number of distinct trials that ended in ``state``; may be called from another thread."""
        return sum(outcome.state == state for outcome in tuple(self._outcomes.values()))

    @property
    def best(self) -> float | None:
        """Best objective among complete trials; None without any."""
        winner = self.winner
        return None if winner is None else self._outcomes[winner.trial_id].objective

    @property
    def winner_epoch(self) -> int | None:
        """The epoch that the winner selected; None without a winner."""
        winner = self.winner
        return None if winner is None else self._outcomes[winner.trial_id].selected_epoch

    @property
    def winner(self) -> Ask | None:
        """The complete trial with the best objective, the earliest on ties; None without any."""
        complete = [
            (ask, outcome.objective)
            for ask in self._asks
            if (outcome := self._outcomes.get(ask.trial_id)) is not None
            and outcome.state == "COMPLETE"
            and outcome.objective is not None
        ]
        return max(complete, key=lambda pair: pair[1])[0] if complete else None

    def finalists(self) -> tuple[Finalist, ...]:
        """The published default and the winner: one entry if they are the same config."""
        winner, default = self.winner, self._asks[0]
        if winner is None or winner.index == 0:
            return (self._finalist(default, is_winner=winner is not None),)
        return (
            self._finalist(default, is_winner=False),
            self._finalist(winner, is_winner=True),
        )

    def _finalist(self, ask: Ask, *, is_winner: bool) -> Finalist:
        return Finalist(
            config=ask.hyperparameters,
            is_default=ask.index == 0,
            is_winner=is_winner,
            selected_epoch=self._outcomes[ask.trial_id].selected_epoch,
        )

    # What it does.

    def suggest(self) -> tuple[Ask, TrialSpec | None]:
        """Draw the next suggestion; the specification is None if its trial is a duplicate."""
        index = len(self._asks)
        self._tell_visible()
        if index < len(self._first):
            config = self._first[index]
            self._suggester.set_suggestion(index, config)
        else:
            config = self._suggester.suggest(index)
        spec = self._spec(index, config)
        ask = Ask(
            search=self.search.id,
            index=index,
            trial_id=spec.trial_id,
            config_hash=config_hash(config),
            hyperparameters=dict(config),
            source=self._source(index),
        )
        is_new = self._note(ask)
        return ask, spec if is_new else None

    def _source(self, index: int) -> AskSource:
        if index == 0:
            return "default"
        return "given" if index < len(self._first) else "sampler"

    def end_early(self) -> None:
        """Suggest no more, because its share of the study's budget is used up."""
        self._is_ended = True

    def cancel(self) -> None:
        """Suggest no more, because the user does not want its trials."""
        self._is_cancelled = True

    def finish(self, trial_id: str, outcome: Outcome) -> None:
        """Take in how a trial ended."""
        self._outcomes[trial_id] = outcome
        if self._settings.order == "asynchronous":
            self._tell_visible()

    def continues(self, trial_id: str, step: int, best_so_far: float) -> bool:
        """Whether the trial may train past ``step``."""
        index = self._first_index[trial_id]
        if self._settings.order == "asynchronous":
            return self._early_stopper.continues(index, step, best_so_far)
        last_rival = index - self._settings.lag
        return self._early_stopper.continues(
            index, step, best_so_far, lambda other: other <= last_rival
        )

    def rung_at(self, step: int) -> int | None:
        """The rung that lies at ``step``, or None."""
        return self._early_stopper.rung_at(step)

    def restore(self, asks: Iterable[Ask], outcomes: dict[str, Outcome]) -> list[TrialSpec]:
        """Restore the state of the search from the store.

        Args:
            asks: stored suggestions of this search, by index.
            outcomes: trial id -> outcome of its ended trials.

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
                self._outcomes[ask.trial_id] = outcome
                self._restore_rungs(ask.index, outcome)
        self._tell_visible()
        return unresolved

    def _restore_rungs(self, index: int, outcome: Outcome) -> None:
        for step, score in outcome.path:
            self._early_stopper.continues(index, step, score)

    def _note(self, ask: Ask) -> bool:
        self._asks.append(ask)
        self._unreported[ask.index] = ask
        return self._first_index.setdefault(ask.trial_id, ask.index) == ask.index

    def _is_duplicate(self, ask: Ask) -> bool:
        return self._first_index[ask.trial_id] != ask.index

    def _unreported_visible(self) -> list[Ask]:
        """Suggestions the next one is to see, of which the suggester has no outcome yet."""
        visible = len(self._asks)
        if self._settings.order == "deterministic" and not self._suggester.wants_all_outcomes:
            visible -= self._settings.lag - 1
        return [ask for ask in self._unreported.values() if ask.index < visible]

    def _tell_visible(self) -> None:
        for ask in self._unreported_visible():
            outcome = self._outcomes.get(ask.trial_id)
            if outcome is not None:
                self._suggester.tell(ask.index, outcome)
                del self._unreported[ask.index]
