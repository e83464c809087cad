"""The runs (seeds, folds, repeats of a search) behind the cells of a block, and new draws of them.

U = runs, C = competitors, N = draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.estimates.ranks import average_ranks
from podium.analysis.tournament.tournament import Tournament
from podium.analysis.typed_tables.score_table import CELL_DIGITS, ScoreTable

RunScores = Sequence[NDArray[np.float64]]
"""U x C of each block, in the order of a tournament; NaN where a competitor lacks the run."""

# Names that no column of a user's table has.
_RUN = "__run"
_COMPETITOR = "__competitor"
_SUM = "__sum"
_WEIGHT = "__weight"
_COLUMN = "__column"
_ROW = "__row"
_EXACT = "__exact"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRuns:
    """One block: the score of a cell is the sum of ``sums_UC`` over that of ``weights_UC``.

    Attributes:
        sums_UC: hits, or sums of scores; 0 where a competitor lacks the run.
        weights_UC: queries, or how many scores were added; 0 where a competitor lacks the run.
        is_exact: hits and queries are integers, so that equal cells tie exactly.
    """

    sums_UC: NDArray[np.float64]
    weights_UC: NDArray[np.float64]
    is_exact: bool

    @property
    def is_paired(self) -> bool:
        """Whether every competitor has every run, so that runs are drawn for all together."""
        return bool((self.weights_UC > 0).all())

    @property
    def num_runs(self) -> int:
        """Fewest runs of a competitor."""
        return int((self.weights_UC > 0).sum(axis=0).min())

    @property
    def varies(self) -> bool:
        """Whether any competitor has two runs or more."""
        return bool(((self.weights_UC > 0).sum(axis=0) > 1).any())


def block_runs(table: ScoreTable, tournament: Tournament) -> tuple[BlockRuns, ...] | None:
    """The runs of each block of a tournament, in its order of blocks and competitors.

    A run is a value of the first of the table's run columns (outermost first: repeat, seed, fold)
    that has several values; what varies within it goes along, since runs within one repeat or seed
    are correlated. Row order does not matter.

    Returns:
        None if no cell has two runs.
    """
    unit = next((name for name in table.run_columns if table.runs[name].n_unique() > 1), None)
    if unit is None:
        return None
    summed = _summed(table, unit)
    wanted = pl.DataFrame({_COMPETITOR: tournament.names}).with_row_index(_COLUMN)
    found = []
    for block in tournament.blocks:
        of_block = summed.filter(
            *(pl.col(name).eq_missing(value) for name, value in block.items())
        )
        found.append(_of_block(of_block.join(wanted, on=_COMPETITOR), len(tournament.names)))
    return tuple(found) if any(block.varies for block in found) else None


def run_scores(
    tournament: Tournament, runs: Sequence[BlockRuns] | None, *, scale: float = 1.0
) -> RunScores:
    """Scores of the runs in the unit of the tournament; with one run a cell, those of the cells.

    Args:
        tournament: tournament whose blocks and competitors the runs are of.
        runs: from `block_runs` of the same table; None if no cell has two.
        scale: factor from the unit of the runs to that of the tournament, such as 100 for percent.
    """
    if runs is None:
        return tuple(row_C[None] for row_C in tournament.scores_BC)
    found = []
    for block in runs:
        with np.errstate(invalid="ignore"):
            scores_UC = np.where(block.weights_UC > 0, block.sums_UC / block.weights_UC, np.nan)
        found.append(scale * scores_UC)
    return tuple(found)


def drawn_ranks(
    runs: BlockRuns, num_draws: int, generator: np.random.Generator, *, is_outermost: bool = False
) -> NDArray[np.float64]:
    """Ranks of the block's competitors when its runs are drawn anew, with replacement.

    Runs that all competitors share are drawn for all at once, which keeps what a seed does to all
    of them alike. Where a competitor lacks a run, each one's runs are drawn by themselves.

    Args:
        runs: runs of one block.
        num_draws: number of draws N.
        generator: source of random numbers.
        is_outermost: whether nothing but runs is drawn. Then U - 1 runs are drawn, which gives a
            mean its unbiased variance s^2 / U (McCarthy and Snowden 1985); U out of U would vary
            (U - 1) / U as much. Below blocks U are drawn: blocks already differ by the chance in
            their runs.

    Returns:
        Average ranks, N x C.
    """
    if runs.is_paired:
        counts_NU = _drawn(len(runs.sums_UC), num_draws, generator, is_outermost)
        cells_NC = (counts_NU @ runs.sums_UC) / (counts_NU @ runs.weights_UC)
    else:
        columns = []
        for sums_U, weights_U in zip(runs.sums_UC.T, runs.weights_UC.T, strict=True):
            has_run_U = weights_U > 0
            counts_NU = _drawn(int(has_run_U.sum()), num_draws, generator, is_outermost)
            columns.append((counts_NU @ sums_U[has_run_U]) / (counts_NU @ weights_U[has_run_U]))
        cells_NC = np.stack(columns, axis=1)
    return average_ranks(cells_NC if runs.is_exact else _rounded(cells_NC))


def _drawn(
    num_runs: int, num_draws: int, generator: np.random.Generator, is_outermost: bool
) -> NDArray[np.float64]:
    """How often each run is drawn, N x U."""
    size = max(1, num_runs - 1) if is_outermost else num_runs
    return generator.multinomial(size, [1 / num_runs] * num_runs, size=num_draws).astype(float)


def _rounded(cells_NC: NDArray[np.float64]) -> NDArray[np.float64]:
    """To about 12 significant digits, as cells are, so that equal means tie."""
    largest = float(np.abs(cells_NC).max())
    if largest == 0:
        return cells_NC
    return cells_NC.round(CELL_DIGITS - 1 - int(np.floor(np.log10(largest))))


def _summed(table: ScoreTable, unit: str) -> pl.DataFrame:
    """One row per block, competitor and run, from hits and queries where all are known."""
    # Sorted, since a sum of floats depends on their order.
    runs = table.runs.drop_nulls(table.score).sort(*table.by, table.competitor, *table.run_columns)
    known = {"hits", "queries"} <= set(runs.columns) and bool(
        runs.select((pl.col("hits").is_not_null() & (pl.col("queries") > 0)).all()).item()
    )
    return (
        runs.group_by(
            *table.by,
            pl.col(table.competitor).cast(pl.String).alias(_COMPETITOR),
            pl.col(unit).alias(_RUN),
            maintain_order=True,
        )
        .agg(
            pl.col("hits" if known else table.score).sum().cast(pl.Float64).alias(_SUM),
            (pl.col("queries").sum() if known else pl.len()).cast(pl.Float64).alias(_WEIGHT),
            pl.lit(known).alias(_EXACT),
        )
        .sort(*table.by, _COMPETITOR, _RUN)
    )


def _of_block(rows: pl.DataFrame, num_competitors: int) -> BlockRuns:
    order: Sequence[object] = rows[_RUN].unique().sort().to_list()
    units = pl.DataFrame({_RUN: order}, schema={_RUN: rows.schema[_RUN]}).with_row_index(_ROW)
    placed = rows.join(units, on=_RUN, nulls_equal=True)
    at = (placed[_ROW].to_numpy(), placed[_COLUMN].to_numpy())
    sums_UC = np.zeros((len(units), num_competitors))
    weights_UC = np.zeros_like(sums_UC)
    sums_UC[at] = placed[_SUM].to_numpy()
    weights_UC[at] = placed[_WEIGHT].to_numpy()
    return BlockRuns(sums_UC=sums_UC, weights_UC=weights_UC, is_exact=bool(rows[_EXACT].all()))
