"""Learning curves of the tuned losses: validation by epoch, a block at a time."""

from collections.abc import Iterator, Mapping

import polars as pl

from analysis.figures.axis import Axis
from analysis.figures.lines import Line, lines_plot, thinned
from analysis.figures.plot import Plot
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Illustration, Table
from analysis.report.shown_blocks import points_of_line, ranked_losses
from analysis.study_results.study_results import StudyResults
from analysis.wording import MISSING, counted

_MOST_EPOCHS = 6  # columns of the table


def learning_curves(results: StudyResults, series: Mapping[str, Series]) -> Illustration | None:
    """Validation by epoch; None without a finished winner that has a validation curve."""
    by_epoch = _by_epoch(results.curves)
    if by_epoch.is_empty():
        return None
    label = f"Validation {results.metric}, %"
    return Illustration(
        name="learning-curves",
        plots=tuple(_plots(results, by_epoch, series, label)),
        caption=f"Validation {results.metric} of the tuned losses by epoch: mean and range (band)"
        f" of {counted(max(by_epoch['seeds']), 'seed')}; folds are averaged within a seed.",
        selector="Block" if by_epoch["block"].n_unique() > 1 else "",
        table=_table(by_epoch, series, results.score_word),
    )


def _by_epoch(curves: pl.DataFrame) -> pl.DataFrame:
    """Mean, range and number of seeds at each epoch that all seeds of a cell reached."""
    run = ["block", "loss", "repeat", "seed_index"]
    per_seed = curves.drop_nulls("value").group_by(*run, "epoch").agg(pl.col("value").mean())
    by_epoch = per_seed.group_by("block", "loss", "epoch").agg(
        pl.col("value").sort().mean().alias("mean"),
        pl.col("value").min().alias("low"),
        pl.col("value").max().alias("high"),
        pl.len().alias("seeds"),
    )
    is_full = pl.col("seeds") == pl.col("seeds").max().over("block", "loss")
    return by_epoch.filter(is_full).sort("block", "loss", "epoch")


def _plots(
    results: StudyResults,
    by_epoch: pl.DataFrame,
    series: Mapping[str, Series],
    label: str,
) -> Iterator[Plot]:
    """A plot for each block."""
    most = points_of_line(by_epoch.select("block", "loss").n_unique())
    for position, panel in enumerate(by_epoch.partition_by("block", maintain_order=True)):
        block = str(panel["block"][0])
        parts = {str(part["loss"][0]): part for part in panel.partition_by("loss")}
        yield lines_plot(
            [_line(loss, parts[loss], series, most) for loss in ranked_losses(results, parts)],
            x=Axis(label="Epoch", digits=0),
            y=Axis(label=label),
            name=f"curves-{position}",
            label=block,
            title=f"Learning curves of {block}",
            description=f"{label} by epoch, one line for each loss with the range of its seeds.",
            band=f"range of {counted(max(panel['seeds']), 'seed')}",
        )


def _line(loss: str, part: pl.DataFrame, series: Mapping[str, Series], most: int) -> Line:
    """The line of one loss; those that share a colour have no band, which none could follow."""
    shown = part[thinned(part.height, most)]
    has_band = series[loss].position is not None and max(part["seeds"]) > 1
    return Line(
        name=loss,
        xs=tuple(shown["epoch"]),
        ys=tuple(shown["mean"]),
        lows=tuple(shown["low"]) if has_band else (),
        highs=tuple(shown["high"]) if has_band else (),
    )


def _table(by_epoch: pl.DataFrame, series: Mapping[str, Series], word: str) -> Table:
    every = sorted(set(by_epoch["epoch"]))
    epochs = [every[position] for position in thinned(len(every), _MOST_EPOCHS)]
    rows = []
    for (block, loss), part in by_epoch.group_by("block", "loss", maintain_order=True):
        means = dict(zip(part["epoch"], part["mean"], strict=True))
        rows.append(
            (
                Cell.word(str(block)),
                Cell.named(str(loss), series),
                *(Cell.number(means.get(epoch)) for epoch in epochs),
            )
        )
    return Table(
        name="learning-curves-table",
        caption=f"Mean validation {word} in % by epoch; {MISSING} where not every seed got that"
        " far",
        columns=(
            *Column.texts("Block", "Loss"),
            *Column.numbers(*(str(epoch) for epoch in epochs)),
        ),
        rows=tuple(rows),
        is_sortable=True,
    )
