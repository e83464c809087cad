"""The ask-and-tell interface of all samplers."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from podium.search_spaces.parameters import Condition, Space, Value, existing

TrialState = Literal["COMPLETE", "PRUNED", "FAILED"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTask:
    """What a sampler searches.

    Attributes:
        values: value of every hyperparameter that is not searched.
        conditions: hyperparameter that does not exist in every config -> its condition.
        trials: budget of the search, in trials.
        first: configs that are set before the first suggestion, the default among them.
        in_batches: whether suggestions come many at a time, none of which has ended.
    """

    space: Space
    values: Mapping[str, Value]
    conditions: Mapping[str, Condition]
    trials: int
    seed: int
    first: Sequence[Mapping[str, Value]]
    in_batches: bool = False

    def config(self, drawn: Mapping[str, Value]) -> dict[str, Value]:
        """The config with these values of what is searched; what does not exist is left out."""
        return existing({**self.values, **drawn}, self.conditions)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a trial ended, as far as a search may know: validation only.

    Attributes:
        state: ``COMPLETE``, ``PRUNED`` or ``FAILED``.
        objective: mean over folds of the best validation score, larger is better; None unless
            complete.
        path: (step, score so far) after each epoch: mean over the folds so far of the best
            validation score; steps count epochs from 1 over all folds.
        selected_epoch: the best epoch, rounded mean over folds; None without validation.
    """

    state: TrialState
    objective: float | None = None
    path: tuple[tuple[int, float], ...] = ()
    selected_epoch: int | None = None


class Suggester(ABC):
    """Suggestions of one search, numbered from 0 in their order.

    A suggestion depends only on the search's seed, its index, the suggestions before it, and which
    of these have which outcome: not on when they were told. So a search that is rebuilt by
    `set_suggestion` and `tell` continues as the old one would have. Here neither changes anything:
    a sampler that learns from outcomes overrides them.
    """

    @property
    def is_exhausted(self) -> bool:
        """Whether all configs that the sampler can suggest were suggested or set."""
        return False

    @property
    def wants_all_outcomes(self) -> bool:
        """Whether the next suggestion must wait until all earlier ones have ended."""
        return False

    @abstractmethod
    def suggest(self, index: int) -> dict[str, Value]:
        """Draw the config of suggestion ``index``, using all outcomes told so far."""

    def set_suggestion(self, index: int, hyperparameters: Mapping[str, Value]) -> None:
        """Make a given config suggestion ``index``: the default, or one of an earlier run."""
        return

    def tell(self, index: int, outcome: Outcome) -> None:
        """Tell how suggestion ``index`` ended."""
        return


class NoSuggester(Suggester):
    """The sampler of a search that has all its trials: it learns nothing, and is asked nothing."""

    def suggest(self, index: int) -> dict[str, Value]:
        """Must not be called."""
        raise AssertionError(f"suggestion {index} of a search that has all its trials")
