"""Scrambled Sobol points: spread over the space more evenly than random ones (Owen 1998).

Every hyperparameter has a coordinate, whether it exists in a config or not, so suggestion i is
point i whatever the other configs and their outcomes were.
"""

import numpy as np
from scipy.stats import qmc

from podium.orchestrator.search_samplers.suggester import SearchTask, Suggester
from podium.orchestrator.search_samplers.unit_cube import value_at
from podium.search_spaces.parameters import Value


class QmcSuggester(Suggester):
    """Points of one Sobol sequence, scrambled by the search's seed; see `Suggester`.

    The sequence begins after the first configs: its evenness is lost if its first point is left
    out.
    """

    def __init__(self, task: SearchTask) -> None:
        self._task = task

    def suggest(self, index: int) -> dict[str, Value]:
        """See `Suggester.suggest`."""
        tried = self._task.space.parameters
        rng = np.random.default_rng(self._task.seed)
        sequence = qmc.Sobol(len(tried), scramble=True, rng=rng)
        if index > len(self._task.first):
            sequence.fast_forward(index - len(self._task.first))
        (point,) = sequence.random(1)
        drawn: dict[str, Value] = {
            name: value_at(tried[name], float(coordinate))
            for name, coordinate in zip(tried, point, strict=True)
        }
        return self._task.config(drawn)
