"""Every combination of the values of a space once, in an order shuffled by the search's seed.

In the order of the space, neighbours would differ in one hyperparameter alone: early stopping
would compare trials of one corner of the space, and an interrupted search would know no other.
Optuna's grid would not do: it knows no hyperparameter that exists for some values of another only,
and draws what is left by the state of its study, which a resumed search does not have.
"""

import random
from collections.abc import Iterator, Mapping
from itertools import islice

from podium.orchestrator.search_samplers.suggester import SearchTask, Suggester
from podium.orchestrator.search_samplers.unit_cube import listed_values
from podium.search_spaces.parameters import Value


def num_configs(task: SearchTask, most: int) -> int | None:
    """Configs of the grid and the first ones outside it, at most ``most``.

    None if a range without steps is searched: it has no number of values.
    """
    if any(listed_values(tried, 1) is None for tried in task.space.parameters.values()):
        return None
    found = {_key(config) for config in islice(_configs(task, most), most)}
    return min(len(found | set(map(_key, task.first))), most)


def _configs(task: SearchTask, most: int) -> Iterator[dict[str, Value]]:
    """Each combination once, of at most ``most`` values each; the last one changes fastest."""
    space = task.space.parameters
    names = sorted(space, key=lambda name: name in task.conditions)  # what others depend on first

    def combined(names: list[str]) -> Iterator[dict[str, Value]]:
        if not names:
            yield {}
            return
        *others, last = names
        values = listed_values(space[last], most)
        assert values is not None, "the study file is refused"
        for chosen in combined(others):
            condition = task.conditions.get(last)
            if condition is not None and not condition.holds({**task.values, **chosen}):
                yield chosen
            else:
                yield from ({**chosen, last: value} for value in values)

    return map(task.config, combined(names))


def _key(config: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted(config.items()))


class GridSuggester(Suggester):
    """The configs of a grid that fits in the budget; see `Suggester`.

    Configs that were set (the default, those given by the study) are not suggested again.
    """

    def __init__(self, task: SearchTask) -> None:
        self._left = list(_configs(task, task.trials))
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
