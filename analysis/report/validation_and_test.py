"""Validation against test of every finalist: does validation select the best on test?"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from podium.analysis.figures.axis import Axis
from podium.analysis.figures.scatter import Point, scatter_plot
from podium.analysis.figures.series import Series, coloured
from podium.analysis.page.html_page import Illustration, Paragraph, Section
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.protocols.optimism_by_protocol import optimism_over_classes
from podium.analysis.scores.class_intervals import class_intervals
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.wording import counted, number


def validation_and_test(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None without a finalist that has both scores."""
    finalists = _finalists(results)
    if finalists.is_empty():
        return None
    figure = Illustration(
        name="validation-test",
        plots=(
            scatter_plot(
                [_point(row) for row in finalists.to_dicts()],
                (
                    Axis(label=f"Validation {results.metric}, %"),
                    Axis(label=f"Test {results.metric}, %"),
                ),
                name="validation-test-plot",
                title="Validation against test",
            ),
        ),
        caption=f"{results.metric} on validation and on test: one point for each loss and setting,"
        " tuned (filled) and published default (hollow), mean of fresh seeds"
        f" (n = {counted(finalists.height, 'point')}). Of each setting, a circle marks the"
        " finalist selected on validation and a square the best on test. Levels differ as classes"
        " and galleries do; the order is what counts.",
        legend=coloured(series[loss] for loss in sorted(set(finalists["loss"]))),
        table=_table(finalists, series, results.score_word),
    )
    sentences = (_summary(finalists), _errors(results), _optimism(results))
    parts = (Paragraph(text=" ".join(filter(None, sentences))), figure)
    return Section(name="agreement", title="Validation against test", parts=parts)


def _finalists(results: StudyResults) -> pl.DataFrame:
    """One row per block, loss and finalist with both scores in percent, and which was selected.

    A winner that is the published default is one configuration and is listed once, as tuned.
    """
    keys = ["block", "protocol", "loss", "finalist"]
    finals = results.finals.filter(
        (pl.col("stage") == "final") & (pl.col("state") == "COMPLETE")
    ).filter(~(pl.col("is_winner") & (pl.col("finalist") == "default")))
    recall = pl.col(results.validation_column).fill_nan(None)
    seeds = finals.group_by(*keys, "repeat", "seed_index").agg(recall.mean())
    validated = seeds.group_by(keys).agg(
        (pl.col(results.validation_column).sort().mean() * PERCENT).alias("validation")
    )
    tested = results.cells.filter(pl.col("k") == results.k).select(
        *keys, (pl.col("score") * PERCENT).alias("test")
    )
    both = validated.join(tested, on=keys).drop_nulls(["validation", "test"]).sort(keys)
    block = ["block", "protocol"]
    return both.with_columns(
        (pl.col("validation") == pl.col("validation").max().over(block)).alias("is_picked"),
        (pl.col("test") == pl.col("test").max().over(block)).alias("is_oracle"),
    )


def _point(row: Mapping[str, Any]) -> Point:
    is_tuned = row["finalist"] == "winner"
    return Point(
        name=row["loss"],
        x=row["validation"],
        y=row["test"],
        detail=f"{'tuned' if is_tuned else 'published default'}\n{row['block']}",
        is_hollow=not is_tuned,
        is_picked=row["is_picked"],
        is_best=row["is_oracle"],
    )


def _summary(finalists: pl.DataFrame) -> str:
    """How often the pick is the best on test, and its mean regret."""
    per_block = finalists.group_by("block", "protocol").agg(
        pl.col("test").filter("is_picked").mean().alias("picked"),
        pl.col("test").max().alias("oracle"),
    )
    agreed = per_block.filter(pl.col("oracle") == pl.col("picked")).height
    regrets = per_block.select((pl.col("oracle") - pl.col("picked")).sort().mean())
    return (
        f"Among these finalists, validation picks the best on test in {agreed} of"
        f" {counted(per_block.height, 'setting')}; selection on validation has a"
        f" mean regret of {number(regrets.item())} points on test."
    )


def _errors(results: StudyResults) -> str:
    """Standard errors of scores from the choice of classes alone; empty if unknown."""
    errors = (PERCENT * pl.col("standard_error")).median()
    validation = class_intervals(results.finals, results.reader.final_hits(), results.k)
    medians = [
        found.filter(pl.col("finalist") == "winner").select(errors).item()
        for found in (validation, results.test_classes)
    ]
    if None in medians:
        return ""
    on_validation, on_test = map(number, medians)
    return (
        f"One standard error of {results.metric}, from resampling classes, is {on_validation}"
        f" points on validation and {on_test} on test (median over settings and tuned losses)."
    )


def _optimism(results: StudyResults) -> str:
    """By how much searches overrate what they select; empty where that is unknown."""
    if not results.is_by_class:
        return ""
    means = optimism_over_classes(results.class_hits).filter(measure="optimism")["mean"]
    if means.drop_nulls().is_empty():
        return ""
    return (
        "Config and epoch, selected on one half of the validation classes and scored on the other,"
        f" lose {number(PERCENT * means[0])} points on average. All classes together choose with"
        " less noise, so the optimism (selection bias) of validation scores is smaller."
    )


def _table(finalists: pl.DataFrame, series: Mapping[str, Series], word: str) -> Table:
    """A row for each block and loss; a winner that is the default is shown as tuned only."""
    labels = {"winner": "tuned", "default": "default"}
    by_cell: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for row in finalists.sort("block", "protocol", "loss").to_dicts():
        by_cell.setdefault((row["block"], row["loss"]), {})[row["finalist"]] = row

    def score(finalist: str, role: str) -> Column:
        return Column.number(
            role.capitalize(),
            lambda cell: by_cell[cell].get(finalist, {}).get(role),
            group=labels[finalist].capitalize(),
        )

    def flagged(label: str, flag: str) -> Column:
        return Column.text(
            label,
            lambda cell: " and ".join(
                labels[name] for name in labels if by_cell[cell].get(name, {}).get(flag)
            ),
        )

    return table(
        by_cell,
        (
            Column.text("Setting", 0),
            Column.named("Loss", 1, series),
            *(score(finalist, role) for finalist in labels for role in ("validation", "test")),
            flagged("Picked by validation", "is_picked"),
            flagged("Best on test", "is_oracle"),
        ),
        name="validation-test-table",
        caption=f"Validation and test {word} of the finalists, in %",
    )
