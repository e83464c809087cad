"""One hyperparameter at a time, as much published work tunes its losses.

Each hyperparameter in turn is swept over its range while all others stay at their unsearched
values; the last suggestion puts the best value of each together. What depends on two of them at
once is not found: the sampler is there to compare with, and to repeat what others did.
"""

import math
from collections.abc import Mapping, Sequence

from orchestrator.suggester import TrialState
from search_spaces.params import Choice, Condition, Int, Real, Space, Value, existing

__all__ = ["CoordinateSuggester", "grid"]


class CoordinateSuggester:
    """Sweeps, then the combination of their best values; see `orchestrator.suggester.Suggester`.

    A hyperparameter whose condition does not hold at the unsearched values is not swept.

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
        start = existing(values, conditions)
        swept = {name: tried for name, tried in space.parameters.items() if name in start}
        share = max(1, (trials - 2) // max(1, len(swept)))
        self._sweeps = [
            (name, value)
            for name, tried in swept.items()
            for value in grid(tried, share)
            if value != start[name]
        ]
        self._placed: dict[int, dict[str, Value]] = {}
        self._objectives: dict[int, float] = {}

    def suggest(self, index: int) -> dict[str, Value]:
        """See `Suggester.suggest`. After the sweeps it is the combination, again and again."""
        if index <= len(self._sweeps):
            name, value = self._sweeps[index - 1]
            config = {**self._values, name: value}
        else:
            config = {**self._values, **self._best_values()}
        config = existing(config, self._conditions)
        self._placed[index] = config
        return config

    def place(self, index: int, hyperparameters: Mapping[str, Value]) -> None:
        """See `Suggester.place`."""
        self._placed[index] = dict(hyperparameters)

    def tell(
        self,
        index: int,
        state: TrialState,
        objective: float | None,
        path: Sequence[tuple[int, float]] = (),
    ) -> None:
        """See `Suggester.tell`. Only complete trials count."""
        if state == "COMPLETE" and objective is not None:
            self._objectives[index] = objective

    def _best_values(self) -> dict[str, Value]:
        """The best value of each sweep, where it beats the default; the earliest on ties."""
        default = self._objectives.get(0, -math.inf)
        best: dict[str, tuple[float, Value]] = {}
        for index, (name, value) in enumerate(self._sweeps, start=1):
            objective = self._objectives.get(index, -math.inf)
            if objective > best.get(name, (default,))[0]:
                best[name] = objective, value
        return {name: value for name, (_, value) in best.items()}


def grid(tried: Real | Int | Choice, num_points: int) -> tuple[Value, ...]:
    """At most ``num_points`` values of a range, its ends among them if there are two or more.

    A range with steps gives its own points, thinned evenly; one without gives evenly spaced
    values, in the logarithm if it says so. All values of a `Choice` are given.
    """
    if isinstance(tried, Choice):
        return tried.values
    step = tried.step or (1 if isinstance(tried, Int) else None)
    if step is None or tried.log:
        shares = _shares(num_points)
        spaced = [_between(tried.low, tried.high, share, tried.log) for share in shares]
    else:
        num_steps = round((tried.high - tried.low) / step)
        shares = _shares(min(num_points, num_steps + 1))
        spaced = [tried.low + step * round(share * num_steps) for share in shares]
    if isinstance(tried, Int):
        return tuple(dict.fromkeys(round(value) for value in spaced))
    # 0.1 * 3 is not 0.3: what a person would write is meant.
    return tuple(float(f"{value:.12g}") for value in spaced)


def _shares(num_points: int) -> list[float]:
    """Evenly from 0 to 1; the middle if it is one point."""
    if num_points == 1:
        return [0.5]
    return [index / (num_points - 1) for index in range(num_points)]


def _between(low: float, high: float, share: float, log: bool) -> float:
    return float(low * (high / low) ** share if log else low + share * (high - low))
