"""The ask-and-tell interface of all samplers."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from search_spaces.parameters import Value

__all__ = ["Suggester", "TrialState"]

TrialState = Literal["COMPLETE", "PRUNED", "FAILED"]


class Suggester(Protocol):
    """Suggestions of one search, numbered from 0 in their order.

    A suggestion depends only on the search's seed, its index, the suggestions before it, and which
    of these have which outcome: not on when they were told. So a search that is rebuilt by
    `set_suggestion` and `tell` continues as the old one would have.
    """

    @property
    def is_exhausted(self) -> bool:
        """Whether all configs that the sampler can suggest were suggested or set."""

    @property
    def wants_all_outcomes(self) -> bool:
        """Whether the next suggestion must wait until all earlier ones have ended."""

    def suggest(self, index: int) -> dict[str, Value]:
        """Draw the config of suggestion ``index``, using all outcomes told so far."""

    def set_suggestion(self, index: int, hyperparameters: Mapping[str, Value]) -> None:
        """Make a given config suggestion ``index``: the default, or one of an earlier run."""

    def tell(
        self,
        index: int,
        state: TrialState,
        objective: float | None,
        path: Sequence[tuple[int, float]] = (),
        *,
        seconds: float | None = None,
    ) -> None:
        """Tell how suggestion ``index`` ended.

        Args:
            index: number of the suggestion.
            state: how the trial ended; COMPLETE needs an objective.
            objective: value of the selection rule, larger is better; None if there is none.
            path: intermediate (step, score) pairs, in order.
            seconds: seconds of training, for samplers that minimise them.
        """
