"""How far the test Recall@K of a cell would move with other test classes."""

import polars as pl

from podium.analysis.estimates.confidence_intervals import class_bootstrap
from podium.analysis.scores.final_scores import CELL_COLUMNS

_SCHEMA_END = {
    "recall": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "standard_error": pl.Float64,
    "num_classes": pl.Int64,
}


def class_intervals(finals: pl.DataFrame, test_class_hits: pl.LazyFrame, k: int) -> pl.DataFrame:
    """Class-cluster bootstrap of Recall@K, one row per cell.

    Hits of a class are summed over the cell's seeds and folds before classes are resampled.

    Args:
        finals: final trials, from ``analysis.scores.final_scores.final_trials``.
        test_class_hits: long frame of the store, with ``trial_id``, ``k``, ``class_id``,
            ``queries`` and ``hits``.
        k: K of Recall@K.

    Returns:
        ``CELL_COLUMNS``, ``recall``, ``low``, ``high`` (95 %), ``standard_error`` and
        ``num_classes``; the interval is null with one class.
    """
    per_class = (
        test_class_hits.filter(pl.col("k") == k)
        .select("trial_id", "class_id", "queries", "hits")
        .join(finals.lazy().select(*CELL_COLUMNS, "trial_id"), on="trial_id")
        .group_by(*CELL_COLUMNS, "class_id")
        .agg(pl.col("queries", "hits").sum())
        .filter(pl.col("queries") > 0)
        .sort(*CELL_COLUMNS, "class_id")
        .collect()
    )
    rows = []
    for cell, group in per_class.group_by(CELL_COLUMNS, maintain_order=True):
        interval = class_bootstrap(group["hits"].to_numpy(), group["queries"].to_numpy())
        spread = (interval.low, interval.high, interval.standard_error, interval.num)
        rows.append((*cell, interval.estimate, *spread))
    schema = {name: finals.schema[name] for name in CELL_COLUMNS} | _SCHEMA_END
    return pl.DataFrame(rows, schema=schema, orient="row")
