"""Flat columns of test scores, such as ``test_recall_at_1``, derived from ``test_scores``.

They say nothing of their own: trials are committed with them, and
`podium verify` derives them again.
"""

from collections.abc import Iterable

import polars as pl
import pyarrow as pa

from podium.orchestrator.results.records.metric_columns import known_test_columns

_SOURCES = ("stage", "test_scores")


def flat_test_scores(names: Iterable[str]) -> dict[str, pl.Expr]:
    """Column -> its values, of the flat test columns among ``names``.

    The mean over the folds of the trial that have the score. Null without any, and of every trial
    of a search: what a quarantine records of those is in ``test_scores`` alone.
    """
    return {
        name: _mean_over_folds(metric, k).alias(name)
        for name, (metric, k) in known_test_columns(names).items()
    }


def with_flat_test_scores(table: pa.Table) -> pa.Table:
    """The table with its flat test columns derived from its ``test_scores``, in their order."""
    expressions = flat_test_scores(table.column_names)
    rows = pl.DataFrame(pl.from_arrow(table.select(_SOURCES)))
    for name, values in rows.select(**expressions).to_dict().items():
        index = table.column_names.index(name)
        table = table.set_column(index, table.schema.field(name), values.to_arrow())
    return table


def _mean_over_folds(metric: str, k: int | None) -> pl.Expr:
    entry = pl.element().struct
    is_wanted = (entry.field("metric") == metric) & entry.field("k").eq_missing(
        pl.lit(k, pl.Int32)
    )
    wanted = pl.col("test_scores").list.filter(is_wanted)
    mean = wanted.list.eval(entry.field("value")).list.mean()
    return pl.when(pl.col("stage") != "search").then(mean)
