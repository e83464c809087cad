"""Everything that is reported of a study's hyperparameters, read from its store once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from podium.analysis.hyperparameters.best_regions import BestRegion, best_regions
from podium.analysis.hyperparameters.importance import (
    SearchImportance,
    search_importances,
)
from podium.analysis.hyperparameters.importance_table import importance_table
from podium.analysis.hyperparameters.search_configs import (
    SearchConfigs,
    configs_on_test,
    search_configs,
)
from podium.orchestrator.results.records.metric_columns import RankedScore, score_column
from podium.orchestrator.results.trial_files.reader import Reader

Role = Literal["validation", "test"]

_NON_ADAPTIVE = ("random", "grid", "qmc")


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedHyperparameters:
    """Hyperparameters in the searches of one protocol.

    Attributes:
        searches: configs of every search that varied something.
        importances_by_search: importances by ``score``, search by search.
        importances: table of importances by ``score``, from `importance_table`.
        on_test: table of importances on test scores of the same trials; None if they were not
            tested, or if ``score`` is itself one of test classes.
        regions: loss -> best region along each hyperparameter.
        sampler: name of the searches' sampler.
        is_adaptive: whether its configs follow earlier scores.
        score: score by which configs are compared.
        role: ``validation`` or ``test``: the classes that it is of.
        maximised: score that the searches maximised on validation.
    """

    searches: tuple[SearchConfigs, ...]
    importances_by_search: tuple[SearchImportance, ...]
    importances: pl.DataFrame
    on_test: pl.DataFrame | None
    regions: Mapping[str, tuple[BestRegion, ...]]
    sampler: str
    is_adaptive: bool
    score: RankedScore
    role: Role
    maximised: RankedScore

    def total(self, count: str) -> int:
        """Sum over searches of one of their counts, such as ``num_pruned``."""
        return sum(getattr(item, count) for item in self.searches)


def tuned_hyperparameters(
    trials: pl.DataFrame,
    reader: Reader,
    *,
    study: Mapping[str, Any],
    score: RankedScore,
    losses: Sequence[str] | None = None,
) -> TunedHyperparameters | None:
    """What is reported of hyperparameters; None if no search has varied anything yet.

    Args:
        trials: trials of one protocol, one row each.
        reader: reader of the results folder.
        study: the resolved study.
        score: score to compare configs by: on validation where trials have it there, else on test
            where trials of the searches were tested by it, else the study's own.
        losses: names of the losses to include; None means all.
    """
    if losses is not None:
        trials = trials.filter(pl.col("loss").is_in(losses))
    tested = configs_on_test(reader.test_scores(), metric=score.metric, k=score.k)
    own = RankedScore(reader.objective, study["ks"][0])
    if score.metric != own.metric and tested.is_empty():
        score = own
        tested = configs_on_test(reader.test_scores(), metric=score.metric, k=score.k)
    role: Role = "validation" if score.metric == own.metric else "test"
    if score != own:
        trials = _scored(trials, tested, score, role)
    searches = search_configs(trials, provenance=reader.provenance(), tested=tested)
    searches = tuple(item for item in searches if item.ranges and item.num_configs)
    if not searches:
        return None
    importances_by_search = search_importances(searches)
    sampler = study["search"]["sampler"]
    is_adaptive = sampler not in _NON_ADAPTIVE
    on_test = None
    if len(tested) and role == "validation":
        of_test = search_importances(searches, on="test")
        on_test = importance_table(of_test, is_adaptive=is_adaptive)
    return TunedHyperparameters(
        searches=searches,
        importances_by_search=importances_by_search,
        importances=importance_table(importances_by_search, is_adaptive=is_adaptive),
        on_test=on_test,
        regions=best_regions(searches),
        sampler=sampler,
        is_adaptive=is_adaptive,
        score=score,
        role=role,
        maximised=own,
    )


def _scored(
    trials: pl.DataFrame, tested: pl.DataFrame, score: RankedScore, role: Role
) -> pl.DataFrame:
    """The trials with that score as their ``objective``."""
    if role == "test":
        joined = trials.join(tested, on="trial_id", how="left")
        return joined.with_columns(pl.col("test").alias("objective")).drop("test")
    return trials.with_columns(pl.col(score_column(score.metric, score.k)).alias("objective"))
