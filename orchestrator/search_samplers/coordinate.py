"""One hyperparameter at a time, as much published work tunes its losses.

Each hyperparameter in turn is swept over its range while all others stay at their unsearched
values; the last suggestion puts the best value of each together. What depends on two of them at
once is not found: the sampler is there to compare with, and to repeat what others did.
"""

import math
from collections.abc import Mapping, Sequence

from orchestrator.search_samplers.evenly_spaced import spaced_values
from orchestrator.search_samplers.suggester import TrialState
from search_spaces.parameters import Condition, Space, Value, existing

__all__ = ["CoordinateSuggester"]


class CoordinateSuggester:
    """Sweeps, then their best values; see `orchestrator.search_samplers.suggester.Suggester`.

    A hyperparameter whose condition does not hold at the unsearched values is not swept. What was
    placed (the default, a config given by the study) is not suggested again.

    Args:
        space: what is searched, in this order.
        values: of every hyperparameter outside its own sweep.
        conditions: of the hyperparameters that do not exist in every config.
        trials: budget, the default and the combination included. Each sweep gets an equal share
            of the rest; a range with steps is thinned evenly if it has more.
    """

    def __init__(
        self,
        space: Space,
        values: Mapping[str, Value],
        conditions: Mapping[str, Condition],
        *,
        trials: int,
    ) -> None:
        self._values = dict(values)
        self._conditions = conditions
        self._default = existing(values, conditions)
        swept = {name: tried for name, tried in space.parameters.items() if name in self._default}
        share = max(1, (trials - 2) // max(1, len(swept)))
        self._sweeps = [
            (name, value, self._config({name: value}))
            for name, tried in swept.items()
            for value in spaced_values(tried, share)
            if value != self._default[name]
        ]
        self._left = [config for _, _, config in self._sweeps]
        self._placed: dict[int, dict[str, Value]] = {}
        self._ended: set[int] = set()
        self._objectives: dict[int, float] = {}

    @property
    def is_exhausted(self) -> bool:
        """See `Suggester.is_exhausted`. What the combination is, every outcome decides."""
        configs = self._placed.values()
        ended = [self._placed[index] for index in self._ended]
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
        """See `Suggester.suggest`. After the sweeps it is the combination, again and again."""
        config = self._left[0] if self._left else self._combination()
        self.place(index, config)
        return config

    def place(self, index: int, hyperparameters: Mapping[str, Value]) -> None:
        """See `Suggester.place`."""
        config = dict(hyperparameters)
        self._placed[index] = config
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
        """See `Suggester.tell`. Only complete trials count."""
        self._ended.add(index)
        if state == "COMPLETE" and objective is not None:
            self._objectives[index] = objective

    def _config(self, changed: Mapping[str, Value]) -> dict[str, Value]:
        return existing({**self._values, **changed}, self._conditions)

    def _combination(self) -> dict[str, Value]:
        """The best value of each sweep, where it beats the default; the earliest on ties."""
        default = self._objective_of(self._default)
        best: dict[str, tuple[float, Value]] = {}
        for name, value, config in self._sweeps:
            objective = self._objective_of(config)
            if objective > best.get(name, (default,))[0]:
                best[name] = objective, value
        return self._config({name: value for name, (_, value) in best.items()})

    def _objective_of(self, config: Mapping[str, Value]) -> float:
        """Of the complete trial with that config; lower than any if there is none."""
        told = (self._objectives[i] for i in self._objectives if self._placed[i] == config)
        return max(told, default=-math.inf)
