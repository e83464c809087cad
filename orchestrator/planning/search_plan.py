"""What one search and its final stage will train."""

from dataclasses import dataclass

from podium.orchestrator.study.blocks import most_finals, protocol_of
from podium.orchestrator.study.study import Search, Study


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """One search with its final stage.

    Attributes:
        dimensions: number of searched hyperparameters.
        search_trials: number of configs that are trained, fewer only in an exhausted space.
        final_trials: largest number of finals; half if the published default wins its search of
            several trials.
        epochs: epochs of both stages together, if no trial is stopped early.
        final_epochs: epochs of the final stage alone.
    """

    search: Search
    dimensions: int
    search_trials: int
    final_trials: int
    epochs: int
    final_epochs: int


def search_plan(study: Study, search: Search, dimensions: int, epochs: int) -> SearchPlan:
    """Count the trials and epochs of a search; ``epochs`` are those of a final trial."""
    search_trials, final_trials = study.search.trials, most_finals(study, search)
    num_folds = protocol_of(study, search).num_folds
    return SearchPlan(
        search=search,
        dimensions=dimensions,
        search_trials=search_trials,
        final_trials=final_trials,
        epochs=search_trials * num_folds * (study.search.epochs or epochs) + final_trials * epochs,
        final_epochs=final_trials * epochs,
    )
