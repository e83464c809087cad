"""Every combination of evenly spaced values, once each.

The order is shuffled by the search's seed. In the order of the ranges, neighbours would differ in
one hyperparameter alone: a race that stops trials early would compare one corner of the space with
itself, and a search that is broken off would know no other.
"""

import random
from collections.abc import Mapping, Sequence

from orchestrator.search_samplers.factorial import configs, points_within
from orchestrator.search_samplers.suggester import TrialState
from search_spaces.parameters import Condition, Space, Value

__all__ = ["GridSuggester"]


class GridSuggester:
    """The configs of a full factorial design; see `Suggester` (beside it).

    Outcomes change nothing. What was placed (the default, a config given by the study) is not
    suggested again.

    Args:
        space: what is searched.
        values: of every hyperparameter, where the space does not say otherwise.
        conditions: of the hyperparameters that do not exist in every config.
        trials: budget of the search, which ranges without steps are divided by.
        seed: of the order.
        first: configs that are placed before the first suggestion.
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

    def place(self, index: int, hyperparameters: Mapping[str, Value]) -> None:
        """See `Suggester.place`."""
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
        """See `Suggester.tell`. Nothing is learnt."""
