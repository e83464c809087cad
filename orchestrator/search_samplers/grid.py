"""Every combination of evenly spaced values, once each.

The order is shuffled by the search's seed. In the order of the ranges, neighbours would differ in
one hyperparameter alone: early stopping would compare trials of one corner of the space, and an
interrupted search would know no other.
"""

import random
from collections.abc import Mapping, Sequence

from orchestrator.search_samplers.factorial import configs, points_within
from orchestrator.search_samplers.suggester import TrialState
from search_spaces.parameters import Condition, Space, Value

__all__ = ["GridSuggester"]


class GridSuggester:
    """The configs of a full factorial design; see `Suggester`.

    Outcomes change nothing. Configs that were set (the default, those given by the study) are not
    suggested again.

    Args:
        space: search space.
        values: value of every hyperparameter that is not searched.
        conditions: hyperparameter that does not exist in every config -> its condition.
        trials: budget of the search; it sets the number of points of ranges without steps.
        seed: seed of the order.
        first: configs that are set before the first suggestion.
    """

    wants_all_outcomes = False

    def __init__(
        self,
        space: Space,
        values: Mapping[str, Value],
        conditions: Mapping[str, Condition],
        *,
        trials: int,
        seed: int,
        first: Sequence[Mapping[str, Value]] = (),
    ) -> None:
        points = points_within(space, values, conditions, trials=trials, first=first)
        self._left = list(configs(points, values, conditions))
        random.Random(seed).shuffle(self._left)

    @property
    def is_exhausted(self) -> bool:
        """See `Suggester.is_exhausted`."""
        return not self._left

    def suggest(self, index: int) -> dict[str, Value]:
        """See `Suggester.suggest`."""
        return self._left.pop(0)

    def set_suggestion(self, index: int, hyperparameters: Mapping[str, Value]) -> None:
        """See `Suggester.set_suggestion`."""
        config = dict(hyperparameters)
        if config in self._left:
            self._left.remove(config)

    def tell(
        self,
        index: int,
        state: TrialState,
        objective: float | None,
        path: Sequence[tuple[int, float]] = (),
        *,
        seconds: float | None = None,
    ) -> None:
        """See `Suggester.tell`. Outcomes are ignored."""
