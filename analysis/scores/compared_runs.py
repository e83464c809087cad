"""The tables of one protocol's training runs that several sections of a report read."""

from functools import cached_property

import polars as pl

from analysis.scores.cached_reader import KeptReader
from analysis.scores.protocol_runs import final_runs, search_class_hits, search_runs

__all__ = ["ComparedRuns"]


class ComparedRuns:
    """Each table is made when it is first asked for, and kept.

    Args:
        trials: of the protocol that losses are compared under.
        reader: of the store.
        k: which K of the objective; that of the reader.
    """

    def __init__(self, trials: pl.DataFrame, reader: KeptReader, *, k: int) -> None:
        self._trials = trials
        self._reader = reader
        self._k = k

    @cached_property
    def searches(self) -> pl.DataFrame:
        """From `analysis.scores.protocol_runs.search_runs`."""
        return self.searches_of(self._trials)

    def searches_of(self, trials: pl.DataFrame) -> pl.DataFrame:
        """The same of some trials."""
        reader = self._reader
        return search_runs(
            trials,
            reader.validation_scores(),
            reader.test_scores(),
            metric=reader.objective,
            k=self._k,
        )

    @cached_property
    def finals(self) -> pl.DataFrame:
        """From `analysis.scores.protocol_runs.final_runs`: trained on a part of the classes."""
        reader = self._reader
        return final_runs(
            self._trials,
            reader.validation_scores(),
            reader.test_scores(),
            metric=reader.objective,
            k=self._k,
            train_on="part",
        )

    @cached_property
    def class_hits(self) -> pl.DataFrame:
        """From `analysis.scores.protocol_runs.search_class_hits`."""
        return search_class_hits(self._trials, self._reader.validation_hits(), k=self._k)
