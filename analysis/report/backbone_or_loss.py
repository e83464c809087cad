"""Which half matters: what the choice of the backbone moves, and what the choice of the loss."""

from collections.abc import Mapping

import polars as pl

from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Paragraph, Section
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.scores.final_scores import final_scores
from podium.analysis.study_results.backbone_or_loss import ChoiceShares, choice_shares
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.wording import counted, number, percent

_ENOUGH = 4  # levels of a factor, below which its variance is known by its order only
_LABELS = {
    "backbone": "Backbone",
    "loss": "Loss",
    "both": "Loss within backbone",
    "residual": "Seed, and all else",
}


def backbone_or_loss(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None unless the study crosses two backbones with two losses."""
    del series  # losses are taken together
    scores = _scores(results)
    found = choice_shares(scores) if scores.height else None
    if found is None:
        return None
    spreads = {name: f"{number(PERCENT * it, 1)} points" for name, it in found.spreads.items()}
    few = min(scores[name].n_unique() for name in ("backbone", "loss"))
    caution = f" Of {few} levels of one of them this is a rough guess." if few < _ENOUGH else ""
    text = (
        f"Of the variance of test {results.metric} of tuned losses within a data set, dimension"
        f" and size the backbone is {percent(found.shares['backbone'])} and the loss"
        f" {percent(found.shares['loss'])}: another backbone moves it by {spreads['backbone']}"
        f" (one standard deviation), another loss by {spreads['loss']}.{caution}"
    )
    return Section(
        name="backbone-or-loss",
        title="Backbone or loss",
        parts=(Paragraph(text=text), _table(found, scores, results.metric)),
    )


def _scores(results: StudyResults) -> pl.DataFrame:
    """Test scores of the finals of tuned losses, as `choice_shares` takes them."""
    names = ("dataset", "embedding_dim", "image_size")
    place = pl.concat_str(*names, separator=" ", ignore_nulls=True)
    where = results.winners.select("trial_id", "dataset", "backbone", place=place).unique()
    return (
        final_scores(results.winners, results.reader.test_scores(), results.objective)
        .filter(pl.col("k") == results.k)
        .join(where, on="trial_id")
        .select("place", "dataset", "backbone", "loss", "score")
        .sort(pl.all())
    )


def _table(found: ChoiceShares, scores: pl.DataFrame, metric: str) -> Table:
    ranges = found.ranges or {}
    rows = [
        (label, found.spreads[name], found.shares[name], *ranges.get(name, (None, None)))
        for name, label in _LABELS.items()
    ]
    columns = (
        Column.text("Source", 0, order=rows.index),
        Column.number("Standard deviation, points", 1, factor=PERCENT),
        Column.share("Share of the variance, %", 2, 1),
        Column.interval("When one is left out, %", 3, 4, 1, factor=PERCENT) if ranges else None,
    )
    design = " x ".join(
        counted(scores[column].n_unique(), word, several)
        for column, word, several in (
            ("place", "setting", "settings"),
            ("backbone", "backbone", "backbones"),
            ("loss", "loss", "losses"),
        )
    )
    note = (
        "The last column is the least and the greatest share when one backbone or one data set is"
        " left out. It is no confidence interval."
    )
    return table(
        rows,
        columns,
        name="backbone-or-loss-table",
        caption=f"Variance components of test {metric}, by moments ({design},"
        f" {counted(scores.height, 'final trial')})",
        note=note if ranges else "",
    )
