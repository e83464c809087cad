"""Optimism (selection bias) in the validation scores of selected configs, for each loss."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from analysis.figures.estimate import Estimate
from analysis.figures.intervals import IntervalAxis, IntervalRow, IntervalWords, intervals_plot
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Illustration, Paragraph, Section, Table
from analysis.protocols.optimism_by_protocol import fresh_runs
from analysis.selection.optimism_of_losses import (
    optimism_over_classes_by_loss,
    optimism_over_runs_by_loss,
)
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.wording import counted, number

_PARTS = {"epoch": "Epoch", "config": "Config", "run": "Its run"}


def optimism(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None if neither classes nor fresh runs allow an estimate."""
    found = _found(results).with_columns(pl.col("mean", "low", "high") * PERCENT)
    if found.is_empty():
        return None
    return Section(
        name="optimism",
        title="Optimism of selected configs",
        label="Optimism",
        parts=(Paragraph(text=_summary(found, results.metric)), _figure(found, series, results)),
    )


def _found(results: StudyResults) -> pl.DataFrame:
    trials = results.compared_trials
    splits = (
        trials.filter(pl.col("stage") == "search")
        .group_by("block")
        .agg(pl.col("split_hash").n_unique())
    )
    has_one_split = splits["split_hash"].max() == 1
    of_runs = optimism_over_runs_by_loss(
        results.runs.searches, fresh_runs(trials, results.runs.finals), has_one_split=has_one_split
    )
    if not results.is_by_class:
        return of_runs
    of_classes = optimism_over_classes_by_loss(
        results.runs.class_hits, has_one_split=has_one_split
    )
    return pl.concat([of_classes, of_runs])


def _summary(found: pl.DataFrame, metric: str) -> str:
    texts = []
    means = dict(found.group_by("part").agg(pl.col("mean").sort().mean()).iter_rows())
    if means.get("optimism") is not None:
        epoch, config = (number(means[part]) for part in ("epoch", "config"))
        texts.append(
            "Selected on one half of the validation classes and scored on the other, a config"
            " loses"
            f" {number(means['optimism'])} points of {metric} on average over losses:"
            f" {epoch} from selecting the epoch, {config} from selecting the config."
        )
    if means.get("run") is not None:
        texts.append(
            f"Trained again and validated on the same classes, selected configs score"
            f" {number(means['run'])} points less than in their search."
        )
    return " ".join(texts)


def _figure(
    found: pl.DataFrame, series: Mapping[str, Series], results: StudyResults
) -> Illustration:
    losses = found["loss"].unique().sort().to_list()
    parts = [part for part in _PARTS if part in found["part"].unique().to_list()]
    rows = {(row["loss"], row["part"]): row for row in found.to_dicts()}
    bars = [
        IntervalRow(
            name=_PARTS[part],
            group=loss,
            estimate=_estimate(rows.get((loss, part))),
            series=series[loss],
            is_filled=part != "run",
        )
        for loss in losses
        for part in parts
    ]
    searches = max(found["num_searches"])
    return Illustration(
        name="optimism-figure",
        plots=(
            intervals_plot(
                bars,
                IntervalAxis(label="Optimism, points", reference=0),
                IntervalWords(value="optimism, points"),
                name="optimism-plot",
                title="Optimism of selected configs",
                description="For each loss, how much selecting the epoch, the config and the run"
                " adds to the validation score of the selected config.",
                is_bars=True,
            ),
        ),
        caption="Optimism (selection bias) of validation scores, in points. Epoch, config:"
        " selected on"
        " half of the validation classes, minus the score on the other half; half the classes are"
        " noisier than all, so the search itself was less optimistic. Its run (hollow): minus"
        " fresh"
        f" runs on the same classes. Up to {counted(searches, 'search', 'searches')} of a loss;"
        " lines are 95 %"
        " intervals, with an arrow where they extend further; the table says over what."
        " Validation minus test is not shown: their classes and galleries differ.",
        table=_table(found, series),
    )


def _estimate(row: Mapping[str, Any] | None) -> Estimate | None:
    if row is None:
        return None
    return Estimate(value=row["mean"], low=row["low"], high=row["high"])


def _table(found: pl.DataFrame, series: Mapping[str, Series]) -> Table:
    labels = {"optimism": "Epoch and config", **_PARTS}
    return Table(
        name="optimism-table",
        caption="Optimism of the validation scores of selected configs, points; 95 % intervals",
        columns=(
            *Column.texts("Loss", "Selection of"),
            *Column.numbers("Points", "95 % interval"),
            *Column.texts("Over"),
            *Column.numbers("Searches"),
        ),
        rows=tuple(
            (
                Cell.named(row["loss"], series),
                Cell(text=labels[row["part"]], order=row["part"]),
                Cell.number(row["mean"]),
                Cell.interval(row["low"], row["high"]),
                Cell(text=row["over"]),
                Cell.count(row["num_searches"]),
            )
            for row in found.sort("loss", maintain_order=True).to_dicts()
        ),
        is_sortable=True,
    )
