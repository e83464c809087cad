"""Tuning gains: each loss at its published default and tuned, on validation and on test."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from podium.analysis.figures.intervals import IntervalAxis, IntervalRow, intervals_plot
from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Fold, Illustration, Section
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.protocols.tuning_gains import gain_units
from podium.analysis.scores.final_scores import BASELINES
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.wording import counted, in_percent

_LEVELS = {
    "val_default": "Default, val",
    "val_winner": "Tuned, val",
    "test_default": "Default, test",
    "test_winner": "Tuned, test",
}

_Row = Mapping[str, Any]


def tuning_gains(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None before a final trial was tested."""
    if results.selection.is_empty():
        return None
    blocks = _blocks(results, series)
    rows = results.overall.to_dicts()
    figure = (
        _figure(results, rows, series, blocks)
        if any(row["gain"] or row["gain_low"] for row in rows)
        else Fold(summary="Every setting", parts=(blocks,))
    )
    parts = (_losses(results, rows, series), figure)
    return Section(name="tuning", title="Tuning gains", parts=parts)


def _losses(results: StudyResults, rows: Sequence[_Row], series: Mapping[str, Series]) -> Table:
    """Means over blocks, a row for each loss."""

    def level(name: str, label: str) -> Column:
        return Column.number(label, lambda row: _mean(results.selection, row["loss"], name))

    def gain(label: str, name: str) -> Column:
        ends = (f"{name}_low", f"{name}_high")
        return Column.signed(label, name, factor=PERCENT, below=ends)

    return table(
        rows,
        (
            Column.named("Loss", "loss", series),
            *(level(name, label) for name, label in _LEVELS.items()),
            gain("Gain on test", "gain"),
            gain("Above baseline", "above_baseline"),
            Column.text(
                "Default won",
                lambda row: f"{row['num_kept_default']} of {row['num_blocks']}",
                is_number=True,
            ),
        ),
        name="tuning-summary",
        caption=f"{results.metric} in %, mean over settings; gains on test in points, paired by"
        f" setting. {_intervals(results)}",
        note="“Default won” counts the settings whose search found nothing better than the"
        " published default; their gain is zero. “Above baseline” is over the better of the"
        " untrained network and its untouched features, by setting."
        f"{_missing_note(results.selection)}{_pruned_note(results.selection)}",
    )


def _intervals(results: StudyResults) -> str:
    """What intervals of gains are over."""
    units = gain_units(results.selection)
    return (
        f"Gains are means of these settings. {units.why_untested}"
        if units.why_untested
        else f"Intervals: 95 %, Student's t over {units.counted}."
    )


def _mean(selection: pl.DataFrame, loss: str, level: str) -> float | None:
    """Mean over the blocks where it is known, in percent."""
    known = selection.filter(pl.col("loss") == loss)[level].fill_nan(None).drop_nulls()
    return None if known.is_empty() else float(np.mean((known * PERCENT).to_numpy()))


def _missing_note(selection: pl.DataFrame) -> str:
    if not any(selection[name].has_nulls() for name in _LEVELS):
        return ""
    return (
        " Some settings lack some of these scores: a level is the mean over the settings that have"
        " it, a gain over those that have both, so a gain is no difference of two levels."
    )


def _pruned_note(selection: pl.DataFrame) -> str:
    count = selection.filter(pl.col("default_state") == "PRUNED").height
    if not count:
        return ""
    return (
        f" In {counted(count, 'search', 'searches')} the default was stopped early: its"
        " validation value is from fewer epochs. On test it was trained in full."
    )


def _figure(
    results: StudyResults, rows: Sequence[_Row], series: Mapping[str, Series], blocks: Table
) -> Illustration:
    plot = intervals_plot(
        [
            IntervalRow(
                name=row["loss"],
                series=series[row["loss"]],
                value=in_percent(row["gain"]),
                low=in_percent(row["gain_low"]),
                high=in_percent(row["gain_high"]),
            )
            for row in rows
        ],
        IntervalAxis(label="Gain on test, points", reference=0),
        name="tuning-gains-plot",
        title="Gain of tuning over the published default",
    )
    return Illustration(
        name="tuning-gains",
        plots=(plot,),
        caption="Gain of tuning: tuned minus published default on test, same seeds and"
        f" settings. {_intervals(results)}",
        table=blocks,
    )


def _blocks(results: StudyResults, series: Mapping[str, Series]) -> Table:
    cell = ("block", "loss", "protocol")
    winners = results.test_classes.filter(pl.col("finalist") == "winner")
    rows = results.selection.join(
        winners.select(*cell, "low", "high"), on=cell, how="left", maintain_order="left"
    )
    interval = (
        " Below the tuned test recall its 95 % bootstrap interval over test classes."
        if results.is_by_class
        else ""
    )
    *levels, tested = _LEVELS
    return table(
        rows,
        (
            Column.text("Setting", "block"),
            Column.named("Loss", "loss", series),
            *(Column.share(_LEVELS[level], level) for level in levels),
            Column.share(_LEVELS[tested], tested, below=("low", "high")),
            Column.signed("Gain on test", "gain", factor=PERCENT),
            Column.interval("95 % interval", "gain_low", "gain_high", factor=PERCENT),
            Column.number("Seeds", "num_seeds", 0),
            *(Column.share(f"{it.capitalize()}, test", f"test_{it}") for it in BASELINES),
        ),
        name="tuning-blocks",
        caption=f"{results.metric} in % by setting.{interval} The interval of a gain is Student's"
        " t over its seeds, or over the repeats of the search if there are several.",
    )
