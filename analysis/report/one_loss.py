"""The first screen of a study of one loss: its scores, and what tuning gains, block by block."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import compress
from typing import Any

import polars as pl

from analysis.figures.estimate import Estimate
from analysis.figures.intervals import IntervalAxis, IntervalRow, IntervalWords, intervals_plot
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Fact, Illustration, Summary, Table
from analysis.scores.final_scores import BASELINE
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.wording import counted, number, range_of, signed

_MOST_BLOCKS = 12  # of the picture
_LEVELS = {
    "tuned": "test_winner",
    "published default": "test_default",
    BASELINE: "test_untrained",
}


def one_loss_summary(
    results: StudyResults, series: Mapping[str, Series], said: Summary
) -> Summary | None:
    """The summary with the scores of the one loss; None of several, or before a test.

    Args:
        results: results of a study without a ranking.
        series: look of each loss.
        said: what is said of any study without a ranking, whose last fact is kept.
    """
    tested = results.selection.drop_nulls("test_winner")
    if len(results.losses) != 1 or tested.is_empty():
        return None
    (loss,), blocks = results.losses, counted(len(tested), "block")
    mean = number(_mean(tested, "test_winner"), 1)
    gain = results.overall.row(0, named=True)
    facts = [Fact(value=mean, label=f"{results.metric} in %, mean over {blocks}")]
    if gain["gain"] is not None:
        facts.append(
            Fact(
                value=signed(PERCENT * gain["gain"], 1),
                label="points of it gained by tuning",
            )
        )
    return replace(
        said,
        verdict=f"{loss} reaches a {results.metric} of {mean} % over {blocks}{_above(gain)};"
        " there is no other loss to rank it with.",
        facts=(*facts, *said.facts),
        picture=_picture(tested, series[loss], results.metric),
        leaderboard=_levels(tested, results.metric),
    )


def _mean(tested: pl.DataFrame, column: str) -> float | None:
    """Mean over blocks in percent; None where a block lacks it."""
    values = tested[column].to_list()
    return None if None in values else PERCENT * sum(values) / len(values)


def _above(gain: Mapping[str, Any]) -> str:
    """How far it is above its published default; empty if unknown."""
    if gain["gain"] is None:
        return ""
    side = "above" if gain["gain"] >= 0 else "below"
    low, high = sorted((abs(gain["gain_low"] or 0), abs(gain["gain_high"] or 0)))
    is_sure = gain["gain_low"] is not None and gain["gain_low"] * gain["gain_high"] > 0
    interval = f" ({range_of(PERCENT * low, PERCENT * high, 1)})" if is_sure else ""
    doubt = "" if is_sure else ", which is uncertain"
    return (
        f", {number(PERCENT * abs(gain['gain']), 1)} points{interval} {side} its published"
        f" default{doubt}"
    )


def _picture(tested: pl.DataFrame, look: Series, metric: str) -> Illustration:
    shown = tested.sort("block").head(_MOST_BLOCKS)
    names = _short(shown["block"].to_list())
    word = f"{metric}, %"
    rows = [
        IntervalRow(
            name=name,
            series=look,
            estimate=Estimate(value=PERCENT * row["test_winner"]),
            origin=None
            if row["test_default"] is None
            else Estimate(value=PERCENT * row["test_default"]),
            columns=(number(PERCENT * row["test_winner"]), signed(_points(row["gain"]))),
        )
        for name, row in zip(names, shown.iter_rows(named=True), strict=True)
    ]
    plot = intervals_plot(
        rows,
        IntervalAxis(label=word, limits=(0, 100)),
        IntervalWords(value="tuned", origin="published default", heads=(word, "Gain")),
        name="summary-levels-plot",
        title="Test scores by block",
        description="One line for each block: the published default and the tuned loss on test.",
    )
    first = "" if len(shown) == len(tested) else f" the first {len(shown)} of"
    return Illustration(
        name="summary-levels",
        plots=(plot,),
        caption=f"{metric} on test in{first} {counted(len(tested), 'block')}: hollow with the"
        " published default, filled tuned; each the mean of fresh seeds.",
        table=Table(
            name="summary-levels-table",
            caption="The numbers of the picture",
            columns=(*Column.texts("Block"), *Column.numbers("Default, %", "Tuned, %", "Gain")),
            rows=tuple(
                (
                    Cell.word(row["block"]),
                    Cell.share(row["test_default"]),
                    Cell.share(row["test_winner"]),
                    Cell.signed(_points(row["gain"])),
                )
                for row in shown.iter_rows(named=True)
            ),
        ),
    )


def _short(blocks: list[str]) -> list[str]:
    """Labels of blocks without the parts that are the same in all; whole where that is all."""
    parts = [block.split("/") for block in blocks]
    if len({len(of_block) for of_block in parts}) > 1:
        return blocks
    varies = [len(set(values)) > 1 for values in zip(*parts, strict=True)]
    kept = ["/".join(compress(of_block, varies)) for of_block in parts]
    return kept if all(kept) else blocks


def _points(share: float | None) -> float | None:
    return None if share is None else PERCENT * share


def _levels(tested: pl.DataFrame, metric: str) -> Table:
    """Tuned, at its default and untrained, as means over blocks."""
    known = {name: _mean(tested, column) for name, column in _LEVELS.items()}
    return Table(
        name="levels",
        caption=f"Means over {counted(len(tested), 'block')}",
        columns=(*Column.texts("Config"), *Column.numbers(f"{metric}, %")),
        rows=tuple(
            (Cell.word(name), Cell.number(mean))
            for name, mean in known.items()
            if mean is not None
        ),
    )
