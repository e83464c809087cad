"""A results store whose frames that many sections of a report need are read once.

What is kept is small beside the store: a number for each trial, a row for each epoch of a winner
and for each class of a tested trial. Rows of every epoch and class of searches are not among them:
`analysis.scores.search_hits` reads those a part at a time.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property

import polars as pl

from podium.analysis.scores.gpu_shares import gpus_per_trial
from podium.analysis.scores.protocol_runs import attempt_table, chosen_k, runs_of
from podium.analysis.scores.search_hits import SearchHits
from podium.analysis.scores.shown_reader import ShownReader
from podium.orchestrator.results.storage.locations import Place

_ORDER = ("stage", "search", "index", "fold", "seed_index", "trial_id")
_TRIAL = ("trial_id", "search", "stage")


class CachedReader(ShownReader):
    """A reader that keeps what it has read of tests, and of validation at one K.

    Args:
        folder: results folder of the study.
        k: K of the validation scores and class hits that are kept; None means the study's first.

    Raises:
        PodiumError: ``folder`` is no results folder, or the study has no such K.
    """

    def __init__(self, folder: Place, *, k: int | None = None) -> None:
        super().__init__(folder)
        self.k = chosen_k(self.study(), k)

    def test_scores(self) -> pl.LazyFrame:
        """Rows of test scores, in the order of `Reader`, with fewer columns of trials."""
        return _with_names(self._test_scores)

    def best_validation(self) -> pl.LazyFrame:
        """Rows of `scores`: of the epochs of a trial's fold the one with the best value, as known.

        Of the objective on validation at the kept K: ``trial_id``, ``search``, ``fold``, ``role``,
        ``metric``, ``k`` and ``value``, null where every epoch's is null or NaN. In no order.
        """
        return self._best_validation.lazy()

    def final_hits(self) -> pl.LazyFrame:
        """Rows of `class_hits` of finals, at the kept K and the selected epoch.

        With fewer columns of trials; classes without queries are left out.
        """
        return _with_names(self._final_hits)

    def test_hits(self) -> pl.LazyFrame:
        """Rows of `test_class_hits` at the kept K, with fewer columns."""
        return _with_names(self._test_hits)

    def attempts(self) -> pl.LazyFrame:
        """One row per attempt, as `Reader` has them, read at the first call."""
        return self._attempts.lazy()

    def attempts_at(self, trials: pl.DataFrame) -> pl.DataFrame:
        """Every attempt at these trials and what it took, from `attempt_table`."""
        gpus = gpus_per_trial(self.study())
        return attempt_table(trials, self.attempts(), gpus_per_trial=gpus)

    def search_runs(self, trials: pl.DataFrame) -> pl.DataFrame:
        """Runs of the searches among these trials, by the objective at the kept K."""
        return self._runs(trials.filter(pl.col("stage") == "search"))

    def final_runs(self, trials: pl.DataFrame) -> pl.DataFrame:
        """Runs of the finals that trained on part of the classes, by the objective at the kept K.

        Folds of a run are averaged, so one whose folds have not all ended is left out.
        """
        finals = trials.filter(pl.col("stage") == "final", pl.col("train_on") == "part")
        num_ended = pl.len().over("search", "config_hash", "seed_index")
        return self._runs(finals.filter(num_ended >= pl.col("num_folds")))

    def _runs(self, trials: pl.DataFrame) -> pl.DataFrame:
        scores = (self.best_validation(), self.test_scores())
        return runs_of(trials, *scores, metric=self.objective, k=self.k)

    def search_hits(self, trials: pl.DataFrame) -> Iterable[pl.DataFrame]:
        """Class hits of the searches among these trials, at the kept K: tables of whole ones."""
        return SearchHits(trials, self, k=self.k)

    def entries_of(
        self,
        column: str,
        trials: pl.Expr,
        *,
        carried: Sequence[str],
        entries: pl.Expr | None = None,
    ) -> pl.DataFrame:
        """One row per nested row of a column, in the order of `details`, whose names are numbers.

        Each file is read once, and what is not asked for is dropped as it is read.

        Args:
            column: name of the column.
            trials: filter of trials.
            carried: columns of trials that each of their nested rows gets; texts are categories.
            entries: filter of nested rows, by ``pl.element()``; None means all.
        """
        nested = pl.col(column) if entries is None else pl.col(column).list.filter(entries)
        found = self.summarise(
            lambda rows: (
                rows.filter(trials)
                .select(*dict.fromkeys((*_ORDER, *carried)), nested)
                .filter(pl.col(column).list.len() > 0)
            )
        )
        return (
            found.sort(_ORDER)
            .select(pl.col(carried), column)
            .with_columns(pl.selectors.string().cast(pl.Categorical))
            .explode(column)
            .unnest(column)
        )

    @cached_property
    def _attempts(self) -> pl.DataFrame:
        return super().attempts().collect()

    @cached_property
    def _test_scores(self) -> pl.DataFrame:
        return self.entries_of("test_scores", pl.lit(True), carried=_TRIAL)

    @cached_property
    def _best_validation(self) -> pl.DataFrame:
        is_kept = (
            pl.col("role") == "val",
            pl.col("metric") == self.objective,
            pl.col("k") == self.k,
        )
        keys = ("trial_id", "search", "fold", "role", "metric", "k")
        return self.summarise(
            lambda rows: (
                rows.select("trial_id", "search", "scores")
                .explode("scores", empty_as_null=False, keep_nulls=False)
                .unnest("scores")
                .filter(*is_kept)
                .group_by(keys)
                .agg(pl.col("value").fill_nan(None).max())
            )
        )

    @cached_property
    def _final_hits(self) -> pl.DataFrame:
        entry = pl.element().struct
        hits = self.entries_of(
            "class_hits",
            pl.col("stage") == "final",
            carried=(*_TRIAL, "epoch_selected"),
            entries=(entry.field("role") == "val")
            & (entry.field("k") == self.k)
            & (entry.field("queries") > 0),
        )
        return hits.filter(pl.col("epoch") == pl.col("epoch_selected"))

    @cached_property
    def _test_hits(self) -> pl.DataFrame:
        hits = self.entries_of(
            "test_class_hits",
            pl.lit(True),
            carried=("trial_id", "search"),
            entries=pl.element().struct.field("k") == self.k,
        )
        return hits.select("trial_id", "search", "class_id", "k", "queries", "hits")


def _with_names(frame: pl.DataFrame) -> pl.LazyFrame:
    return frame.lazy().with_columns(pl.selectors.categorical().cast(pl.String))
