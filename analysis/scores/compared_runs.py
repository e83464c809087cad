"""The tables of one protocol's training runs that several sections of a report read."""

from collections.abc import Callable, Sequence
from functools import cached_property

import polars as pl

from podium.analysis.scores.cached_reader import CachedReader
from podium.analysis.scores.protocol_runs import Protocol, final_runs, search_runs
from podium.analysis.scores.search_hits import SearchHits
from podium.errors import PodiumError


class ComparedRuns:
    """Tables of training runs, each computed when it is first used, and kept.

    Args:
        trials: trials of the protocol that losses are compared under.
        reader: reader of the results store.
        k: K of the objective, the one that the reader keeps.
    """

    def __init__(self, trials: pl.DataFrame, reader: CachedReader, *, k: int) -> None:
        self._trials = trials
        self._reader = reader
        self._k = k

    @cached_property
    def searches(self) -> pl.DataFrame:
        """Runs of the searches, from `analysis.scores.protocol_runs.search_runs`."""
        return self.searches_of(self._trials)

    def searches_of(self, trials: pl.DataFrame) -> pl.DataFrame:
        """Runs of the searches among these trials, not kept."""
        return self._read(search_runs, trials)

    @cached_property
    def finals(self) -> pl.DataFrame:
        """Final runs that trained on part of the classes.

        From `analysis.scores.protocol_runs.final_runs`.
        """
        return self._read(final_runs, self._trials, train_on="part")

    def _read(
        self, runs: Callable[..., pl.DataFrame], trials: pl.DataFrame, **options: str
    ) -> pl.DataFrame:
        scores = (self._reader.best_validation(), self._reader.test_scores())
        return runs(trials, *scores, metric=self._reader.objective, k=self._k, **options)

    @cached_property
    def class_hits(self) -> SearchHits:
        """Class hits of the searches."""
        return SearchHits(self._trials, self._reader, k=self._k)


def compared_protocol(protocols: Sequence[Protocol], label: str | None = None) -> Protocol:
    """The protocol that losses are compared under: the first that does not leak, if any.

    Args:
        protocols: protocols of the study, in its order.
        label: label of the protocol to use instead.

    Raises:
        PodiumError: no protocol has that label.
    """
    if label is None:
        honest = [protocol for protocol in protocols if not protocol.leaks]
        return (honest or list(protocols))[0]
    for protocol in protocols:
        if protocol.label == label:
            return protocol
    known = ", ".join(protocol.label for protocol in protocols)
    raise PodiumError(f"a protocol of this study is one of {known}; got {label!r}")


def trials_of(trials: pl.DataFrame, label: str) -> pl.DataFrame:
    """The trials of one protocol's searches, and baselines, which have none.

    Baselines are stored under the study's first protocol; here they get this one.
    """
    is_baseline = pl.col("stage") == "baseline"
    is_its = is_baseline | (pl.col("protocol") == label)
    # A filter copies all columns, also where it keeps every row.
    are_all = trials.select(is_its.all()).item()
    return (trials if are_all else trials.filter(is_its)).with_columns(
        pl.when(is_baseline).then(pl.lit(label)).otherwise(pl.col("protocol")).alias("protocol")
    )


def leak_warning(protocol: Protocol) -> str:
    """The warning that belongs to scores of a protocol that leaks; empty for others."""
    if not protocol.leaks:
        return ""
    return (
        f"{protocol.shown}: epochs and configs were chosen by the test classes that these scores"
        " are of"
    )
