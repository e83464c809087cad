"""CMA-ES (Hansen 2016) over the numbers of a space, by the library ``cmaes``.

A normal distribution is moved, generation by generation, to where the better half of a generation
lay. Here a generation is so many suggestions in a row, and it counts when all of them have ended:
what the distribution is follows from what was suggested and how it ended, not from who was faster.
Until then suggestions come from the last generation that counts, so with more trials at a time
than a generation has, they are drawn from older ones.

Only the order within a generation counts: complete trials by objective, then pruned ones, those
that came further first, then failed ones. The default and configs given by the study take part if
they lie in the space.

A number that a config does not have moves nothing. Lists of values have no order that the
distribution could follow: their values are drawn at random.
"""

import random
from collections.abc import Mapping, Sequence

import numpy as np
from cmaes import CMA

from orchestrator.ids_and_seeds import seed_for
from orchestrator.search_samplers.suggester import TrialState
from orchestrator.search_samplers.unit_cube import is_inside, place_of, value_at
from search_spaces.parameters import Choice, Condition, Space, Value, existing

__all__ = ["CmaEsSuggester"]

# Of the range of each number, from whose middle it starts (Hansen 2016, section B).
_START_SIGMA = 0.3

_MIDDLE = 0.5

# Sorts like the trials it is made of, the best first.
_Standing = tuple[int, float, float]


class CmaEsSuggester:
    """Draws from a distribution that learns; see `Suggester` (beside it).

    Args:
        space: what is searched; at least one range must be in it.
        values: of every hyperparameter, where the space does not say otherwise.
        conditions: of the hyperparameters that do not exist in every config.
        seed: of the search.
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
    ) -> None:
        self._space = space
        self._numbers = {
            name: tried
            for name, tried in space.parameters.items()
            if not isinstance(tried, Choice)
        }
        self._choices = {
            name: tried for name, tried in space.parameters.items() if isinstance(tried, Choice)
        }
        self._values = values
        self._conditions = conditions
        self._seed = seed
        self._inside: dict[int, Mapping[str, Value]] = {}
        self._standings: dict[int, _Standing] = {}

    def suggest(self, index: int) -> dict[str, Value]:
        """See `Suggester.suggest`."""
        distribution = self._distribution()
        distribution.reseed_rng(seed_for(self._seed, "suggestion", index))
        choices = random.Random(seed_for(self._seed, "choices", index))
        drawn: dict[str, Value] = {
            name: value_at(tried, float(place))
            for (name, tried), place in zip(self._numbers.items(), distribution.ask(), strict=True)
        }
        drawn |= {name: choices.choice(tried.values) for name, tried in self._choices.items()}
        config = existing({**self._values, **drawn}, self._conditions)
        self.place(index, config)
        return config

    def place(self, index: int, hyperparameters: Mapping[str, Value]) -> None:
        """See `Suggester.place`. Nothing is learnt of a config outside the space."""
        tried = self._space.parameters
        if all(
            is_inside(tried[name], value)
            for name, value in hyperparameters.items()
            if name in tried
        ):
            self._inside[index] = dict(hyperparameters)

    def tell(
        self,
        index: int,
        state: TrialState,
        objective: float | None,
        path: Sequence[tuple[int, float]] = (),
        *,
        seconds: float | None = None,
    ) -> None:
        """See `Suggester.tell`."""
        self._standings[index] = _standing(state, objective, path)

    def _distribution(self) -> CMA:
        """Moved by every generation up to the first one of which a trial has not ended."""
        cma = CMA(
            mean=np.full(len(self._numbers), _MIDDLE),
            sigma=_START_SIGMA,
            bounds=np.tile([0.0, 1.0], (len(self._numbers), 1)),
            seed=0,  # drawn from after another seed was set
        )
        indices = sorted(self._inside)
        size = cma.population_size
        for start in range(0, len(indices) - size + 1, size):
            generation = indices[start : start + size]
            if not all(index in self._standings for index in generation):
                break
            if any(self._standings[index] < _FAILED for index in generation):
                generation.sort(key=self._standings.__getitem__)  # ties stay in their order
                cma.tell([(self._point(i, cma.mean), rank) for rank, i in enumerate(generation)])
        return cma

    def _point(self, index: int, mean: np.ndarray) -> np.ndarray:
        """A config's place in the cube; at the mean where it has no value."""
        config = self._inside[index]
        return np.array(
            [
                place_of(tried, float(config[name])) if name in config else middle
                for (name, tried), middle in zip(self._numbers.items(), mean, strict=True)
            ]
        )


_FAILED: _Standing = (2, 0.0, 0.0)


def _standing(
    state: TrialState, objective: float | None, path: Sequence[tuple[int, float]]
) -> _Standing:
    if state == "COMPLETE" and objective is not None:
        return 0, -objective, 0.0
    if state == "PRUNED" and path:
        step, score = path[-1]
        return 1, -step, -score
    return _FAILED
