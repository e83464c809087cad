"""How the order of losses changes with K and with the embedding dimension."""

from collections.abc import Mapping, Sequence

import polars as pl

from analysis.figures.axis import Axis
from analysis.figures.lines import Line, lines_plot
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Illustration, Table
from analysis.scores.score_grid import ScoreGrid
from analysis.wording import counted


def ranks_by_k(grid: ScoreGrid, series: Mapping[str, Series]) -> Illustration | None:
    """Ranks at each K; None with a single K, or where no block has all scores.

    Args:
        grid: scores at every K.
        series: looks of the losses.
    """
    return _figure(grid, series, "k", ["place", "backbone", "dim"], axis="K", name="rank-by-k")


def ranks_by_dimension(grid: ScoreGrid, series: Mapping[str, Series]) -> Illustration | None:
    """Ranks at each embedding dimension; None with a single one, or without all scores.

    Args:
        grid: scores at one K.
        series: looks of the losses.
    """
    axis = "Embedding dimension"
    return _figure(grid, series, "dim", ["place", "backbone"], axis=axis, name="rank-by-dimension")


def _figure(
    grid: ScoreGrid,
    series: Mapping[str, Series],
    level: str,
    block: Sequence[str],
    *,
    axis: str,
    name: str,
) -> Illustration | None:
    whole = _whole_blocks(grid, level, block)
    ranks = _average_ranks(whole, level, block)
    levels = ranks[level].unique().sort().to_list()
    losses = ranks.filter(pl.col(level) == levels[0])["loss"].to_list() if levels else []
    if len(levels) < 2 or len(losses) < 2:
        return None
    texts = [f"{value:g}" for value in levels]
    num_blocks = whole.select(block).n_unique()
    plot = lines_plot(
        [
            Line(
                name=loss,
                xs=tuple(float(position) for position in range(len(levels))),
                ys=tuple(ranks.filter(loss=loss)["position"]),
            )
            for loss in losses
        ],
        x=Axis.of_categories(axis, texts),
        y=Axis.of_ranks("Rank", len(losses)),
        name=f"{name}-plot",
        title=f"Ranks by {axis}",
        description="One line for each loss, the first at the top.",
        labels="both",
        has_points=True,
    )
    return Illustration(
        name=name,
        plots=(plot,),
        caption="Order of the losses by their average rank over"
        f" {counted(num_blocks, 'block')} with all scores.",
        table=_table(ranks, levels, series, axis=axis, name=f"{name}-table"),
    )


def _whole_blocks(grid: ScoreGrid, level: str, block: Sequence[str]) -> pl.DataFrame:
    """Rows of the blocks in which every loss has a score at every level."""
    rows = grid.rows.filter(~pl.col("is_baseline"), pl.col(level).is_not_null())
    expected = rows["loss"].n_unique() * rows[level].n_unique()
    return rows.filter(pl.col("score").count().over(block) == expected)


def _average_ranks(whole: pl.DataFrame, level: str, block: Sequence[str]) -> pl.DataFrame:
    """Average rank of each loss at each level, and its position among these; sorted by both."""
    rank = pl.col("score").rank(method="average", descending=True).over(*block, level)
    return (
        whole.with_columns(rank.alias("rank"))
        .group_by(level, "loss")
        .agg(pl.col("rank").sort().mean())
        .with_columns(
            pl.col("rank").rank(method="min").over(level).cast(pl.Int64).alias("position")
        )
        .sort(level, "position", "loss")
    )


def _table(
    ranks: pl.DataFrame,
    levels: Sequence[float],
    series: Mapping[str, Series],
    *,
    axis: str,
    name: str,
) -> Table:
    """Average ranks, rows in the order at the first level."""
    averages = {(loss, at): rank for at, loss, rank, _ in ranks.rows()}
    losses = list(dict.fromkeys(ranks["loss"]))
    return Table(
        name=name,
        caption="Average rank",
        columns=(
            *Column.texts("Loss"),
            *Column.numbers(*(f"{value:g}" for value in levels), group=axis),
        ),
        rows=tuple(
            (Cell.named(loss, series), *(Cell.number(averages[loss, at]) for at in levels))
            for loss in losses
        ),
        is_sortable=True,
    )
