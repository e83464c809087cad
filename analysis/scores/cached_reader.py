"""A results store whose frames that many sections of a report need are read once."""

from functools import cached_property

import polars as pl

from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.reader import Reader

_NETWORK = ("trial_id", "search", "stage", "block", "loss", "repeat", "seed_index", "state")
_TRIAL = ("trial_id", "search", "stage")


class CachedReader(Reader):
    """A reader that keeps what it has read of test scores, and of validation at one K.

    It keeps a few numbers for each epoch of a trial, and at most one row for each class: far less
    than all metrics, roles and K of a store.

    Args:
        folder: results folder of the study.
        k: K of the validation scores and class hits that are kept.

    Raises:
        PodiumError: ``folder`` is no results folder.
    """

    def __init__(self, folder: Place, *, k: int) -> None:
        super().__init__(folder)
        self._k = k

    def test_scores(self) -> pl.LazyFrame:
        """Rows of test scores, as `Reader` has them, read at the first call."""
        return self._test_scores.lazy()

    def validation_scores(self) -> pl.LazyFrame:
        """Rows of `scores` on validation, of the objective at the kept K, with fewer columns."""
        return self._validation_scores.lazy()

    def validation_hits(self) -> pl.LazyFrame:
        """Rows of `class_hits` at the kept K, with fewer columns.

        Classes without queries are left out, and trials of searches that did not complete.
        """
        return (
            self._validation_hits.lazy()
            .with_columns(pl.col(_TRIAL).cast(pl.String))
            .with_columns(pl.lit("val").alias("role"), pl.lit(self._k, pl.Int32).alias("k"))
        )

    def test_hits(self) -> pl.LazyFrame:
        """Rows of `test_class_hits` at the kept K, with fewer columns."""
        return self._test_hits.lazy().with_columns(pl.lit(self._k, pl.Int32).alias("k"))

    def attempts(self) -> pl.LazyFrame:
        """One row per attempt, as `Reader` has them, read at the first call."""
        return self._attempts.lazy()

    @cached_property
    def _attempts(self) -> pl.DataFrame:
        return super().attempts().collect()

    @cached_property
    def _test_scores(self) -> pl.DataFrame:
        return super().test_scores().collect()

    @cached_property
    def _validation_scores(self) -> pl.DataFrame:
        is_kept = (
            pl.col("role") == "val",
            pl.col("metric") == self.objective,
            pl.col("k") == self._k,
        )
        columns = ("fold", "epoch", "role", "metric", "k", "value")
        scores = self.details("scores", carried=_NETWORK, in_all=True)
        return scores.filter(*is_kept).select(*_NETWORK, *columns).collect(engine="streaming")

    @cached_property
    def _validation_hits(self) -> pl.DataFrame:
        """Trials as numbers, since there is a row for each epoch and class."""
        is_kept = (pl.col("role") == "val", pl.col("k") == self._k, pl.col("queries") > 0)
        is_whole = (pl.col("stage") != "search") | (pl.col("state") == "COMPLETE")
        names = [pl.col(name).cast(pl.Categorical) for name in _TRIAL]
        hits = self.details(
            "class_hits", carried=(*names, "epoch_selected"), where=[is_whole], in_all=True
        )
        columns = ("fold", "epoch", "class_id", "queries", "hits")
        return (
            hits.filter(*is_kept)
            .select(*_TRIAL, "epoch_selected", *columns)
            .collect(engine="streaming")
        )

    @cached_property
    def _test_hits(self) -> pl.DataFrame:
        columns = ("class_id", "queries", "hits")
        hits = self.details("test_class_hits", carried=("trial_id", "search"))
        is_kept = pl.col("k") == self._k
        return (
            hits.filter(is_kept).select("trial_id", "search", *columns).collect(engine="streaming")
        )
