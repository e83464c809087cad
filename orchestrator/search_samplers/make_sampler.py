"""Makes the suggester of a search from the name of its sampler."""

from podium.orchestrator.search_samplers.coordinate import CoordinateSuggester
from podium.orchestrator.search_samplers.grid import GridSuggester
from podium.orchestrator.search_samplers.optuna_study import OptunaSuggester
from podium.orchestrator.search_samplers.quasi_monte_carlo import QmcSuggester
from podium.orchestrator.search_samplers.sampler_names import SamplerName
from podium.orchestrator.search_samplers.suggester import SearchTask, Suggester


def make_suggester(name: SamplerName, task: SearchTask) -> Suggester:
    """The suggester that draws the configs of one search by the sampler of that name."""
    match name:
        case "grid":
            return GridSuggester(task)
        case "coordinate":
            return CoordinateSuggester(task)
        case "qmc":
            return QmcSuggester(task)
        case "tpe" | "random" | "gp":
            return OptunaSuggester(task, name)
