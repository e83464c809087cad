"""What a search asks for configs, whatever draws them."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from search_spaces.parameters import Value

__all__ = ["Suggester", "TrialState"]

TrialState = Literal["COMPLETE", "PRUNED", "FAILED"]


class Suggester(Protocol):
    """Suggestions of one search, numbered from 0 in their order.

    A suggestion depends on nothing but the search's seed, its number, what was placed or suggested
    before it, and which of that was told with which outcome: not on when it was told. So a search
    that is rebuilt by placing and telling goes on as the old one would have.
    """

    @property
    def is_exhausted(self) -> bool:
        """Whether everything there is has been suggested or placed."""

    @property
    def wants_all_outcomes(self) -> bool:
        """Whether the next suggestion is to be drawn when all before it have ended."""

    def suggest(self, index: int) -> dict[str, Value]:
        """Draw the config of suggestion ``index``; everything told so far is considered."""

    def place(self, index: int, hyperparameters: Mapping[str, Value]) -> None:
        """Take ``hyperparameters`` as suggestion ``index``: the default, or one asked before."""

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
            index: the suggestion.
            state: COMPLETE needs an objective; PRUNED is told its last score on the way.
            objective: value of the selection rule.
            path: (step, score) pairs on the way.
            seconds: of training, for searches that want few of them.
        """
