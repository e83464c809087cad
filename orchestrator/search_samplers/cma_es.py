"""CMA-ES (Hansen 2016) over the numbers of a space, by the library ``cmaes``.

A normal distribution is moved, generation by generation, towards the better half of a generation.
Here a generation is a fixed number of consecutive suggestions, and it counts when all of them
have ended: the distribution follows from the suggestions and their outcomes, not from which ended
first. Until then suggestions come from the last generation that counts, so with more concurrent
trials than a generation has, they are drawn from older ones.

Only the order within a generation counts: complete trials by objective, then pruned ones, those
that came further first, then failed ones. The default and configs given by the study take part if
they lie in the space.

A number that a config does not have does not move the distribution. Lists of values have no order
that it could follow: their values are drawn at random.
"""

import random
from collections.abc import Mapping

import numpy as np
from cmaes import CMA

from podium.orchestrator.ids_and_seeds import seed_for
from podium.orchestrator.search_samplers.suggester import Outcome, SearchTask, Suggester
from podium.orchestrator.search_samplers.unit_cube import coordinate_of, is_inside, value_at
from podium.search_spaces.parameters import Choice, Value

# Fraction of the range of each number, from whose middle it starts (Hansen 2016, section B).
_START_SIGMA = 0.3

_MIDDLE = 0.5

# Sort key of an outcome: smaller is better.
_RankKey = tuple[int, float, float]


class CmaEsSuggester(Suggester):
    """Suggestions of CMA-ES over a space with at least one range; see `Suggester`."""

    def __init__(self, task: SearchTask) -> None:
        self._task = task
        tried = task.space.parameters
        self._numbers = {key: it for key, it in tried.items() if not isinstance(it, Choice)}
        self._choices = {key: it for key, it in tried.items() if isinstance(it, Choice)}
        self._inside_configs: dict[int, Mapping[str, Value]] = {}
        self._rank_keys: dict[int, _RankKey] = {}

    def suggest(self, index: int) -> dict[str, Value]:
        """See `Suggester.suggest`."""
        distribution = self._distribution()
        distribution.reseed_rng(seed_for(self._task.seed, "suggestion", index))
        choices = random.Random(seed_for(self._task.seed, "choices", index))
        drawn: dict[str, Value] = {
            name: value_at(tried, float(coordinate))
            for (name, tried), coordinate in zip(
                self._numbers.items(), distribution.ask(), strict=True
            )
        }
        drawn |= {name: choices.choice(tried.values) for name, tried in self._choices.items()}
        config = self._task.config(drawn)
        self.set_suggestion(index, config)
        return config

    def set_suggestion(self, index: int, hyperparameters: Mapping[str, Value]) -> None:
        """See `Suggester.set_suggestion`. A config outside the space is ignored."""
        tried = self._task.space.parameters
        if all(
            is_inside(tried[name], value)
            for name, value in hyperparameters.items()
            if name in tried
        ):
            self._inside_configs[index] = dict(hyperparameters)

    def tell(self, index: int, outcome: Outcome) -> None:
        """See `Suggester.tell`."""
        self._rank_keys[index] = _rank_key(outcome)

    def _distribution(self) -> CMA:
        """The distribution after all generations before the first with an unfinished trial."""
        cma = CMA(
            mean=np.full(len(self._numbers), _MIDDLE),
            sigma=_START_SIGMA,
            bounds=np.tile([0.0, 1.0], (len(self._numbers), 1)),
            seed=0,  # drawn from after another seed was set
        )
        indices = sorted(self._inside_configs)
        size = cma.population_size
        for start in range(0, len(indices) - size + 1, size):
            generation = indices[start : start + size]
            if not all(index in self._rank_keys for index in generation):
                break
            if any(self._rank_keys[index] < _FAILED for index in generation):
                generation.sort(key=self._rank_keys.__getitem__)  # ties stay in their order
                cma.tell([(self._point(i, cma.mean), rank) for rank, i in enumerate(generation)])
        return cma

    def _point(self, index: int, mean: np.ndarray) -> np.ndarray:
        """Coordinates of a config in the unit cube; the mean where it has no value."""
        config = self._inside_configs[index]
        return np.array(
            [
                coordinate_of(tried, float(config[name])) if name in config else middle
                for (name, tried), middle in zip(self._numbers.items(), mean, strict=True)
            ]
        )


_FAILED: _RankKey = (2, 0.0, 0.0)


def _rank_key(outcome: Outcome) -> _RankKey:
    if outcome.state == "COMPLETE" and outcome.objective is not None:
        return 0, -outcome.objective, 0.0
    if outcome.state == "PRUNED" and outcome.path:
        step, score = outcome.path[-1]
        return 1, -step, -score
    return _FAILED
