"""Everything told of a study's hyperparameters, read from its store once."""

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

__all__ = ["TunedHyperparameters", "tuned_hyperparameters"]

_DO_NOT_LEARN = ("random", "grid", "qmc")


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedHyperparameters:
    """Of one protocol's searches.

    Attributes:
        found: importances on validation, search by search.
        importances: from `importance_table`, on validation.
        on_test: the same on the test scores of the very same trials; None if they were not tested.
        regions: of each loss.
        sampler: of the searches; ``learns`` if it crowds configs where scores are high.
    """

    searches: tuple[SearchConfigs, ...]
    found: tuple[SearchImportance, ...]
    importances: pl.DataFrame
    on_test: pl.DataFrame | None
    pooled: Mapping[str, PooledConfigs]
    regions: Mapping[str, tuple[BestRegion, ...]]
    sampler: str
    settings: ImportanceSettings

    @property
    def learns(self) -> bool:
        """Whether suggestions depend on outcomes."""
        return self.sampler not in _DO_NOT_LEARN

    @property
    def is_recorded(self) -> bool:
        """Whether the folder says what was tried."""
        return all(item.is_recorded for item in self.searches)

    def total(self, what: str) -> int:
        """Sum over searches of a count of theirs, such as ``num_pruned``."""
        return sum(getattr(item, what) for item in self.searches)


def tuned_hyperparameters(
    trials: pl.DataFrame,
    reader: Reader,
    *,
    study: Mapping[str, Any],
    k: int,
    losses: Sequence[str] | None = None,
    settings: ImportanceSettings | None = None,
) -> TunedHyperparameters | None:
    """None if no search has varied anything yet.

    Args:
        trials: of one protocol.
        reader: of the store.
        study: the resolved study.
        k: of the test scores.
        losses: which; None: all.
        settings: of the importances.
    """
    chosen = settings or ImportanceSettings()
    if losses is not None:
        trials = trials.filter(pl.col("loss").is_in(losses))
    tested = configs_on_test(reader.test_scores(), metric=reader.objective, k=k)
    searches = search_configs(trials, provenance=reader.provenance(), tested=tested)
    searches = tuple(item for item in searches if item.tried and item.num)
    if not searches:
        return None
    found = search_importances(searches, settings=chosen)
    on_test = None
    if len(tested):
        of_test = search_importances(searches, on="test", settings=chosen)
        on_test = importance_table(of_test, settings=chosen)
    pooled = pooled_configs(searches)
    return TunedHyperparameters(
        searches=searches,
        found=found,
        importances=importance_table(found, settings=chosen),
        on_test=on_test,
        pooled=pooled,
        regions={loss: best_regions(item) for loss, item in pooled.items()},
        sampler=study["search"]["sampler"],
        settings=chosen,
    )
