"""Everything that is reported of a study's hyperparameters, read from its store once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.hyperparameters.best_regions import BestRegion, best_regions
from analysis.hyperparameters.importance import (
    ImportanceSettings,
    SearchImportance,
    search_importances,
)
from analysis.hyperparameters.importance_table import importance_table
from analysis.hyperparameters.pooled_configs import PooledConfigs, pooled_configs
from analysis.hyperparameters.search_configs import SearchConfigs, configs_on_test, search_configs
from orchestrator.results.trial_files.reader import Reader

_NON_ADAPTIVE = ("random", "grid", "qmc")


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedHyperparameters:
    """Hyperparameters in the searches of one protocol.

    Attributes:
        searches: configs of every search that varied something.
        importances_by_search: importances on validation, search by search.
        importances: table of importances on validation, from `importance_table`.
        on_test: table of importances on test scores of the same trials; None if they were not
            tested.
        pooled: loss -> its configs of all searches.
        regions: loss -> best region along each hyperparameter.
        sampler: name of the searches' sampler; ``is_adaptive`` if it crowds configs where scores
            are high.
        settings: settings of the importances.
    """

    searches: tuple[SearchConfigs, ...]
    importances_by_search: tuple[SearchImportance, ...]
    importances: pl.DataFrame
    on_test: pl.DataFrame | None
    pooled: Mapping[str, PooledConfigs]
    regions: Mapping[str, tuple[BestRegion, ...]]
    sampler: str
    settings: ImportanceSettings

    @property
    def is_adaptive(self) -> bool:
        """Whether suggestions depend on outcomes."""
        return self.sampler not in _NON_ADAPTIVE

    @property
    def is_recorded(self) -> bool:
        """Whether the results folder records the search spaces."""
        return all(item.is_recorded for item in self.searches)

    def total(self, count: str) -> int:
        """Sum over searches of one of their counts, such as ``num_pruned``."""
        return sum(getattr(item, count) for item in self.searches)


def tuned_hyperparameters(
    trials: pl.DataFrame,
    reader: Reader,
    *,
    study: Mapping[str, Any],
    k: int,
    losses: Sequence[str] | None = None,
    settings: ImportanceSettings | None = None,
) -> TunedHyperparameters | None:
    """What is reported of hyperparameters; None if no search has varied anything yet.

    Args:
        trials: trials of one protocol, one row each.
        reader: reader of the results folder.
        study: the resolved study.
        k: value of K of the test scores.
        losses: names of the losses to include; None means all.
        settings: settings of the importances; None means the defaults.
    """
    chosen = settings or ImportanceSettings()
    if losses is not None:
        trials = trials.filter(pl.col("loss").is_in(losses))
    tested = configs_on_test(reader.test_scores(), metric=reader.objective, k=k)
    searches = search_configs(trials, provenance=reader.provenance(), tested=tested)
    searches = tuple(item for item in searches if item.ranges and item.num_configs)
    if not searches:
        return None
    importances_by_search = search_importances(searches, settings=chosen)
    on_test = None
    if len(tested):
        of_test = search_importances(searches, on="test", settings=chosen)
        on_test = importance_table(of_test)
    pooled = pooled_configs(searches)
    return TunedHyperparameters(
        searches=searches,
        importances_by_search=importances_by_search,
        importances=importance_table(importances_by_search),
        on_test=on_test,
        pooled=pooled,
        regions={loss: best_regions(item) for loss, item in pooled.items()},
        sampler=study["search"]["sampler"],
        settings=chosen,
    )
