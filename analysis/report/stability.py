"""Stability: what changes if a loss is trained or tuned again."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Section, Table
from analysis.selection.ranking_stability import (
    epoch_stability,
    failure_rates,
    reselected_by_classes,
    reselected_by_repeats,
    seed_spread,
)
from analysis.study_results.component_scores import final_component_scores
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.wording import percent, range_below, range_of


def stability(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section: seeds, best epochs, failures and picks; None before a trial has ended."""
    trials = results.compared_trials.filter(
        pl.col("stage") != "baseline", pl.col("same_as").is_null()
    )
    if trials.is_empty():
        return None
    reselected, by = _reselected(results)
    table = (
        failure_rates(trials)
        .join(seed_spread(_seed_scores(results)), on="loss", how="left", suffix="_seed")
        .join(epoch_stability(results.curves), on="loss", how="left")
        .join(reselected, on="loss", how="left")
        .sort("loss")
    )
    return Section(
        name="stability",
        title="Stability over repetitions",
        label="Stability",
        parts=(_table(table, series, by, results.metric),),
    )


def _seed_scores(results: StudyResults) -> pl.DataFrame:
    """Scores of finals with each split as a repeat of its own, so that only seeds vary in one."""
    scores = final_component_scores(results)
    return scores.with_columns(
        pl.concat_str(pl.col("repeat").cast(pl.String), "split", separator=" ").alias("repeat"),
        pl.col("score") * PERCENT,
    )


def _reselected(results: StudyResults) -> tuple[pl.DataFrame, str]:
    """How often the same config is selected again, and what was repeated."""
    found = reselected_by_repeats(results.runs.searches)
    if not found.is_empty() or not results.is_by_class:
        return found, "two repeats of the search picked the same config"
    return reselected_by_classes(results.runs.class_hits), (
        "the search picked its config again when its validation classes were resampled (200 times)"
    )


def _table(table: pl.DataFrame, series: Mapping[str, Series], by: str, metric: str) -> Table:
    labels = (
        "Seeds, points",
        "Best epoch, epochs",
        "Peak to last, points",
        "Failed",
        "Picked again",
    )
    return Table(
        name="stability-table",
        caption=f"Stability of each loss: sample standard deviation of test {metric} over seeds"
        " (with its 95 % chi-square interval and degrees of freedom), standard deviation of the"
        " best validation epoch over seeds, best minus last validation score, failed trials (95 %,"
        " Wilson)",
        columns=(*Column.texts("Loss"), *Column.numbers(*labels)),
        rows=tuple(_row(row, series) for row in table.to_dicts()),
        note=f"Picked again: how often {by}; below it, a random pick. Seeds and epochs are of the"
        " tuned losses, failures of all trials of the compared protocol.",
        is_sortable=True,
    )


def _row(row: Mapping[str, Any], series: Mapping[str, Series]) -> tuple[Cell, ...]:
    failed = range_of(PERCENT * row["low"], PERCENT * row["high"], 0)
    ends = range_below(row["low_seed"], row["high_seed"])
    return (
        Cell.named(row["loss"], series),
        Cell.number(row["seed_std"], detail=ends and f"{ends}, {row['num_df']} df"),
        Cell.number(row["epoch_std"], 1),
        Cell.number(row["peak_to_last"]),
        Cell.percent(
            row["failed"], detail=f"{row['num_failed']:,} of {row['num_trials']:,}; {failed}"
        ),
        Cell.percent(
            row["reselected"], detail="" if row["chance"] is None else percent(row["chance"])
        ),
    )
