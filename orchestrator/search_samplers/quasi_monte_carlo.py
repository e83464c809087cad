"""Scrambled Sobol points: spread over the space more evenly than random ones (Owen 1998).

Every hyperparameter has a coordinate, whether it exists in a config or not, so suggestion i is
point i whatever the other configs and their outcomes were.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import qmc

from orchestrator.search_samplers.suggester import TrialState
from orchestrator.search_samplers.unit_cube import value_at
from search_spaces.parameters import Condition, Space, Value, existing

__all__ = ["QmcSuggester"]


class QmcSuggester:
    """Points of one Sobol sequence; see `Suggester`.

    Args:
        space: search space.
        values: value of every hyperparameter that is not searched.
        conditions: hyperparameter that does not exist in every config -> its condition.
        seed: seed of the scrambling.
        num_first: number of configs that are set before the first suggestion. The sequence begins
            after them: its evenness is lost if its first point is left out.
    """

    is_exhausted = False
    wants_all_outcomes = False

    def __init__(
        self,
        space: Space,
        values: Mapping[str, Value],
        conditions: Mapping[str, Condition],
        *,
        seed: int,
        num_first: int,
    ) -> None:
        self._space = space
        self._values = values
        self._conditions = conditions
        self._seed = seed
        self._num_first = num_first

    def suggest(self, index: int) -> dict[str, Value]:
        """See `Suggester.suggest`."""
        tried = self._space.parameters
        sequence = qmc.Sobol(len(tried), scramble=True, rng=np.random.default_rng(self._seed))
        if index > self._num_first:
            sequence.fast_forward(index - self._num_first)
        (point,) = sequence.random(1)
        drawn = {
            name: value_at(tried[name], float(coordinate))
            for name, coordinate in zip(tried, point, strict=True)
        }
        return existing({**self._values, **drawn}, self._conditions)

    def set_suggestion(self, index: int, hyperparameters: Mapping[str, Value]) -> None:
        """See `Suggester.set_suggestion`. Points do not depend on it."""

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
