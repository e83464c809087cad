"""Every combination of evenly spaced values, once each.

The order is shuffled by the search's seed. In the order of the ranges, neighbours would differ in
one hyperparameter alone: early stopping would compare trials of one corner of the space, and an
interrupted search would know no other.
"""

import random
from collections.abc import Mapping

from orchestrator.search_samplers.factorial import configs, points_within
from orchestrator.search_samplers.suggester import SearchTask, Suggester
from search_spaces.parameters import Value


class GridSuggester(Suggester):
    """The configs of a full factorial design within the budget; see `Suggester`.

    Configs that were set (the default, those given by the study) are not
    suggested again.
    """

    def __init__(self, task: SearchTask) -> None:
        self._left = list(configs(points_within(task), task))
        random.Random(task.seed).shuffle(self._left)

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
