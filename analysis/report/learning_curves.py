"""Learning curves of the tuned losses: validation by epoch, one panel a block."""

from collections.abc import Mapping

import polars as pl

from analysis.figures.learning_curves import LearningCurve, draw_learning_curves
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Illustration, Table
from analysis.report.shown_blocks import drawn_rows
from analysis.study_results.study_results import StudyResults
from analysis.wording import MISSING, counted

_MOST_EPOCHS = 6  # columns of the table
_MOST_PANELS = 6


def learning_curves(results: StudyResults, series: Mapping[str, Series]) -> Illustration | None:
    """The figure; None without a finished winner that has a validation curve."""
    by_epoch = _by_epoch(results.curves)
    if by_epoch.is_empty():
        return None
    y_range = padded_range(by_epoch["low"].to_list() + by_epoch["high"].to_list())
    drawn, losses, note = drawn_rows(results, by_epoch, most_blocks=_MOST_PANELS)
    plots = [
        draw_learning_curves(
            [_curve(part, series) for part in panel.partition_by("loss", maintain_order=True)],
            block=panel["block"][0],
            y_range=y_range,
            metric=results.metric,
            name=f"curves-{position}",
        )
        for position, panel in enumerate(drawn.partition_by("block", maintain_order=True))
    ]
    return Illustration(
        name="learning-curves",
        plots=tuple(plots),
        caption=f"Validation {results.metric} of the tuned losses by epoch: mean (line) and range"
        f" (band) of {counted(max(by_epoch['seeds']), 'seed')}; folds are averaged within a seed."
        f" All panels have the same scale.{note}",
        legend=tuple(series[loss] for loss in losses),
        table=_table(by_epoch, series, results.score_word),
    )


def padded_range(values: list[float]) -> tuple[float, float]:
    """From the lowest to the highest value with a margin, so that markers are not cut."""
    low, high = min(values), max(values)
    margin = 0.06 * (high - low) or 1.0
    return low - margin, high + margin


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


def _curve(part: pl.DataFrame, series: Mapping[str, Series]) -> LearningCurve:
    return LearningCurve(
        series=series[part["loss"][0]],
        epochs=tuple(part["epoch"]),
        means=tuple(part["mean"]),
        lows=tuple(part["low"]),
        highs=tuple(part["high"]),
    )


def _table(by_epoch: pl.DataFrame, series: Mapping[str, Series], word: str) -> Table:
    epochs = _spread(sorted(set(by_epoch["epoch"])))
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


def _spread(epochs: list[int]) -> list[int]:
    """At most so many of them, the first and the last included."""
    if len(epochs) <= _MOST_EPOCHS:
        return epochs
    step = (len(epochs) - 1) / (_MOST_EPOCHS - 1)
    return [epochs[round(step * position)] for position in range(_MOST_EPOCHS)]
