"""One hyperparameter after the other, each swept from the best values found so far.

The other reading of tuning one at a time (see `coordinate`): the value that scores best is kept
while going on to the next hyperparameter. It is one round of coordinate descent, in the order of
the space; an interaction is found only where the later of two hyperparameters makes up for it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.search_samplers.suggester import Outcome, SearchTask, Suggester
from orchestrator.search_samplers.sweeps import Sweep, successive_sweeps
from search_spaces.parameters import Value

_Config = Mapping[str, Value]
_Key = tuple[tuple[str, Value], ...]


def max_configs(task: SearchTask) -> int:
    """Upper bound on distinct configs: first ones, and sweeps wherever they start from."""
    default = task.config({})
    found = list(task.first)
    for sweep in successive_sweeps(task).each:
        for value in sweep.values:
            config = {**default, sweep.name: value}
            if value != task.values[sweep.name] and config not in found:
                found.append(config)
    return len(found)


@dataclass(frozen=True, slots=True)
class _Position:
    """How far the sweeps are.

    Attributes:
        base: config with the best values of all sweeps that have ended.
        left: configs of the present sweep that were not suggested yet.
        is_over: whether every sweep has ended.
    """

    base: dict[str, Value]
    left: list[dict[str, Value]]
    is_over: bool = False


class CoordinateDescentSuggester(Suggester):
    """Sweeps one after the other; see `Suggester`.

    A sweep starts when all configs of the one before have ended. It keeps the value that it starts
    from where none scores better, of equal ones the earliest. A hyperparameter is swept if it
    exists with the values kept so far. Ranges share the budget without the default as in
    `fair_shares`. Where the sweeps are follows from the configs and outcomes told, and from
    nothing else: a search that is rebuilt from its asks stands where it stood.
    """

    def __init__(self, task: SearchTask) -> None:
        self._task = task
        self._sweeps = successive_sweeps(task).each
        self._keys: dict[int, _Key] = {}
        self._ended: set[_Key] = set()
        self._objectives: dict[_Key, float] = {}

    @property
    def is_exhausted(self) -> bool:
        """See `Suggester.is_exhausted`: once every sweep has ended."""
        return self._position().is_over

    @property
    def wants_all_outcomes(self) -> bool:
        """See `Suggester.wants_all_outcomes`: at the end of each sweep."""
        return not self._position().left

    def suggest(self, index: int) -> dict[str, Value]:
        """See `Suggester.suggest`. Between and after sweeps it is the best config so far."""
        position = self._position()
        config = position.left[0] if position.left else position.base
        self.set_suggestion(index, config)
        return config

    def set_suggestion(self, index: int, hyperparameters: Mapping[str, Value]) -> None:
        """See `Suggester.set_suggestion`."""
        self._keys[index] = _key(hyperparameters)

    def tell(self, index: int, outcome: Outcome) -> None:
        """See `Suggester.tell`. Only complete trials are compared."""
        key = self._keys[index]
        self._ended.add(key)
        if outcome.state == "COMPLETE" and outcome.objective is not None:
            self._objectives[key] = max(outcome.objective, self._objective(key))

    def _position(self) -> _Position:
        kept: _Config = {}
        suggested = set(self._keys.values())
        for sweep in self._sweeps:
            tried = self._tried(kept, sweep)
            configs = [self._task.config(drawn) for drawn in tried]
            if any(_key(config) not in self._ended for config in configs):
                left = [config for config in configs if _key(config) not in suggested]
                return _Position(configs[0], left)
            kept = max(tried, key=lambda drawn: self._objective(_key(self._task.config(drawn))))
        return _Position(self._task.config(kept), [], is_over=True)

    def _tried(self, kept: _Config, sweep: Sweep) -> list[_Config]:
        """Values to draw: those that were kept, then each of the sweep in place of its own."""
        base = self._task.config(kept)
        if sweep.name not in base:
            return [kept]
        others = (value for value in sweep.values if value != base[sweep.name])
        return [kept, *({**kept, sweep.name: value} for value in others)]

    def _objective(self, key: _Key) -> float:
        return self._objectives.get(key, -math.inf)


def _key(config: _Config) -> _Key:
    return tuple(sorted(config.items()))
