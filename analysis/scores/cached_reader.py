"""A results store whose frames that many sections of a report need are read once."""

from functools import cached_property

import polars as pl

from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.reader import Reader

_NETWORK = ("trial_id", "search", "stage", "block", "loss", "repeat", "seed_index", "state")


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
        return self._validation_hits.lazy()

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
        columns = (*_NETWORK, "fold", "epoch", "role", "metric", "k", "value")
        return super().scores().filter(*is_kept).select(columns).collect()

    @cached_property
    def _validation_hits(self) -> pl.DataFrame:
        is_kept = (pl.col("role") == "val", pl.col("k") == self._k, pl.col("queries") > 0)
        columns = (
            *("trial_id", "search", "stage", "fold", "epoch", "epoch_selected"),
            *("role", "k", "class_id", "queries", "hits"),
        )
        is_whole = (pl.col("stage") != "search") | (pl.col("state") == "COMPLETE")
        return super().class_hits().filter(is_whole, *is_kept).select(columns).collect()
