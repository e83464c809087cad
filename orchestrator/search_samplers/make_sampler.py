"""Makes the suggester of a search from the name of its sampler."""

from collections.abc import Mapping, Sequence

from orchestrator.search_samplers.cma_es import CmaEsSuggester
from orchestrator.search_samplers.coordinate import CoordinateSuggester
from orchestrator.search_samplers.grid import GridSuggester
from orchestrator.search_samplers.optuna_study import OptunaSuggester
from orchestrator.search_samplers.quasi_monte_carlo import QmcSuggester
from orchestrator.search_samplers.sampler_names import SamplerName
from orchestrator.search_samplers.suggester import Suggester
from search_spaces.parameters import Condition, Space, Value

__all__ = ["make_suggester"]


def make_suggester(
    name: SamplerName,
    space: Space,
    values: Mapping[str, Value],
    conditions: Mapping[str, Condition],
    *,
    trials: int,
    seed: int,
    first: Sequence[Mapping[str, Value]],
) -> Suggester:
    """The suggester that draws the configs of one search.

    Args:
        name: name of the sampler.
        space: search space.
        values: value of every hyperparameter that is not searched.
        conditions: hyperparameter that does not exist in every config -> its condition.
        trials: budget of the search, in trials.
        seed: seed of the search.
        first: configs that are set before the first suggestion, the default among them.
    """
    match name:
        case "grid":
            return GridSuggester(space, values, conditions, trials=trials, seed=seed, first=first)
        case "coordinate":
            return CoordinateSuggester(space, values, conditions, trials=trials)
        case "qmc":
            return QmcSuggester(space, values, conditions, seed=seed, num_first=len(first))
        case "cma-es":
            return CmaEsSuggester(space, values, conditions, seed=seed)
        case "tpe" | "random" | "gp" | "nsga-ii":
            return OptunaSuggester(
                space,
                values=values,
                conditions=conditions,
                sampler=name,
                trials=trials,
                seed=seed,
            )
