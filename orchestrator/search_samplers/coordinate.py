"""One hyperparameter at a time, as much published work tunes its losses.

Each hyperparameter in turn takes all its values while all others stay at their unsearched
values; the last suggestion puts the best value of each together. Interactions of
hyperparameters are not found: the sampler serves to compare with, and to reproduce published work.
"""

import math
from collections.abc import Mapping

from podium.orchestrator.search_samplers.suggester import Outcome, SearchTask, Suggester
from podium.orchestrator.search_samplers.unit_cube import listed_values
from podium.search_spaces.parameters import Value


def max_configs(task: SearchTask, most: int) -> int | None:
    """Upper bound on distinct configs: first ones, sweeps, and the combination of several.

    At most ``most`` values of each hyperparameter count. None if a range without steps is
    searched: it has no number of values.
    """
    if any(listed_values(tried, 1) is None for tried in task.space.parameters.values()):
        return None
    sweeps = _sweeps(task, most)
    found = list(task.first)
    for _, _, config in sweeps:
        if config not in found:
            found.append(config)
    return len(found) + (len({name for name, _, _ in sweeps}) > 1)


def _sweeps(task: SearchTask, most: int) -> list[tuple[str, Value, dict[str, Value]]]:
    """Hyperparameter, its value and the config, of each suggestion before the combination."""
    default = task.config({})
    return [
        (name, value, task.config({name: value}))
        for name, tried in task.space.parameters.items()
        if name in default
        for value in listed_values(tried, most) or ()
        if value != default[name]
    ]


class CoordinateSuggester(Suggester):
    """Sweeps, then their best values; see `Suggester`.

    A hyperparameter whose condition does not hold at the unsearched values is not swept. Configs
    that were set (the default, those given by the study) are not suggested again.
    """

    def __init__(self, task: SearchTask) -> None:
        self._task = task
        self._default = task.config({})
        self._sweeps = _sweeps(task, task.trials)
        self._left = [config for _, _, config in self._sweeps]
        self._set_configs: dict[int, dict[str, Value]] = {}
        self._ended: set[int] = set()
        self._objectives: dict[int, float] = {}

    @property
    def is_exhausted(self) -> bool:
        """See `Suggester.is_exhausted`. The combination depends on all outcomes."""
        configs = self._set_configs.values()
        ended = [self._set_configs[index] for index in self._ended]
        return (
            not self._left
            and all(config in ended for config in configs)
            and self._combination() in configs
        )

    @property
    def wants_all_outcomes(self) -> bool:
        """See `Suggester.wants_all_outcomes`: after the sweeps."""
        return not self._left

    def suggest(self, index: int) -> dict[str, Value]:
        """See `Suggester.suggest`. After the sweeps it is always the combination."""
        config = self._left[0] if self._left else self._combination()
        self.set_suggestion(index, config)
        return config

    def set_suggestion(self, index: int, hyperparameters: Mapping[str, Value]) -> None:
        """See `Suggester.set_suggestion`."""
        config = dict(hyperparameters)
        self._set_configs[index] = config
        if config in self._left:
            self._left.remove(config)

    def tell(self, index: int, outcome: Outcome) -> None:
        """See `Suggester.tell`. Only complete trials count."""
        self._ended.add(index)
        if outcome.state == "COMPLETE" and outcome.objective is not None:
            self._objectives[index] = outcome.objective

    def _combination(self) -> dict[str, Value]:
        """The best value of each sweep, where it beats the default; the earliest on ties."""
        default = self._objective_of(self._default)
        best: dict[str, tuple[float, Value]] = {}
        for name, value, config in self._sweeps:
            objective = self._objective_of(config)
            if objective > best.get(name, (default,))[0]:
                best[name] = objective, value
        return self._task.config({name: value for name, (_, value) in best.items()})

    def _objective_of(self, config: Mapping[str, Value]) -> float:
        """Best objective of complete trials with that config; -inf if there is none."""
        objectives = (
            self._objectives[i] for i in self._objectives if self._set_configs[i] == config
        )
        return max(objectives, default=-math.inf)
