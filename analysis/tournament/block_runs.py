"""The runs (seeds, folds, repeats of a search) behind the cells of a tournament.

U = runs, C = competitors.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.typed_tables.score_table import CELL_DIGITS, ScoreTable

RunScores = tuple[NDArray[np.float64], ...]
"""U x C of each block, in the order of a tournament; NaN where a competitor lacks the run."""

# Names that no column of a user's table has.
_RUN = "__run"
_COMPETITOR = "__competitor"
_SCORE = "__score"

_NOUNS = {"seed_index": "seed"}


def run_scores(
    table: ScoreTable,
    blocks: Sequence[Mapping[str, object]],
    names: Sequence[str],
    *,
    scale: float = 1.0,
) -> tuple[RunScores, str] | None:
    """The scores of the runs of each block, and what a run is; None if no cell has two runs.

    A run is a value of the first of the table's run columns (outermost first: repeat, seed, fold)
    that has several values; what varies within it is averaged, by hits and queries where all are
    known. Row order does not matter. ``scale`` is the factor to the unit of the tournament.
    """
    unit = next((name for name in table.run_columns if table.runs[name].n_unique() > 1), None)
    if unit is None:
        return None
    means = _means(table, unit)
    found = [_of_block(means, block, names, scale) for block in blocks]
    several = any((np.isfinite(scores_UC).sum(axis=0) > 1).any() for scores_UC in found)
    return (tuple(found), _NOUNS.get(unit, unit)) if several else None


def _means(table: ScoreTable, unit: str) -> pl.DataFrame:
    """One row per block, competitor and run."""
    # Sorted, since a sum of floats depends on their order.
    runs = table.runs.drop_nulls(table.score).sort(*table.by, table.competitor, *table.run_columns)
    known = {"hits", "queries"} <= set(runs.columns) and bool(
        runs.select((pl.col("hits").is_not_null() & (pl.col("queries") > 0)).all()).item()
    )
    mean = pl.col("hits").sum() / pl.col("queries").sum() if known else pl.col(table.score).mean()
    cell = (pl.col(table.competitor).cast(pl.String).alias(_COMPETITOR), pl.col(unit).alias(_RUN))
    return runs.group_by(*table.by, *cell, maintain_order=True).agg(
        mean.cast(pl.Float64).round_sig_figs(CELL_DIGITS).alias(_SCORE)
    )


def _of_block(
    means: pl.DataFrame, block: Mapping[str, object], names: Sequence[str], scale: float
) -> NDArray[np.float64]:
    rows = means.filter(*(pl.col(name).eq_missing(value) for name, value in block.items()))
    by_run = rows.pivot(_COMPETITOR, on_columns=names, index=_RUN, values=_SCORE).sort(_RUN)
    return scale * by_run.select(names).to_numpy(order="c")
