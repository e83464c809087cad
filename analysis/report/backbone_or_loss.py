"""Which half matters: what the choice of the backbone moves, and what the choice of the loss."""

from collections.abc import Mapping

import polars as pl

from podium.analysis.estimates.variance_moments import RESIDUAL, variance_moments
from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Paragraph, Section
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.scores.final_scores import final_scores
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.wording import counted, number, percent

_ENOUGH = 4  # levels of a factor, below which its variance is known by its order only
_TERMS = {"backbone": ("backbone",), "loss": ("loss",), "both": ("backbone", "loss")}
_LABELS = {
    "backbone": "Backbone",
    "loss": "Loss",
    "both": "Loss within backbone",
    RESIDUAL: "Seed, and all else",
}


def backbone_or_loss(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None unless the study crosses two backbones with two losses."""
    del series  # losses are taken together
    scores = _scores(results)
    found = choice_shares(scores) if scores.height else None
    if found is None:
        return None
    of_backbone, of_loss = found.head(2).to_dicts()
    few = min(scores[name].n_unique() for name in ("backbone", "loss"))
    caution = f" Of {few} levels of one of them this is a rough guess." if few < _ENOUGH else ""
    text = (
        f"Of the variance of test {results.metric} of tuned losses within a data set, dimension"
        f" and size the backbone is {percent(of_backbone['share'])} and the loss"
        f" {percent(of_loss['share'])}: another backbone moves it by"
        f" {number(PERCENT * of_backbone['spread'], 1)} points (one standard deviation), another"
        f" loss by {number(PERCENT * of_loss['spread'], 1)} points.{caution}"
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


def choice_shares(scores: pl.DataFrame) -> pl.DataFrame | None:
    """Variance components of backbone, loss and their interaction, and of the rest.

    Args:
        scores: one row per final run of a tuned loss: ``place`` (data set, dimension and size of
            its block), ``dataset``, ``backbone``, ``loss``, ``score``. The design is crossed.

    Returns:
        ``source`` (backbone, loss, both, residual); ``spread``, the standard deviation in the unit
        of the scores; ``share`` of the sum of all variances; ``low`` and ``high``, the least and
        greatest share when one backbone or data set is left out, null where nothing can be. None
        unless two backbones and two losses can be told from each other.
    """
    found = _shares(scores)
    if found is None:
        return None
    left_out = [
        _shares(scores.filter(pl.col(column) != level))
        for column, least in (("backbone", 3), ("dataset", 2))
        for level in scores[column].unique().sort()
        if scores[column].n_unique() >= least
    ]
    shares = pl.concat([found.clear(), *(part for part in left_out if part is not None)])
    ranges = shares.group_by("source").agg(
        pl.col("share").min().alias("low"), pl.col("share").max().alias("high")
    )
    return found.join(ranges, on="source", how="left", maintain_order="left")


def _shares(scores: pl.DataFrame) -> pl.DataFrame | None:
    """Standard deviations and shares of the variance; the means of places are fixed."""
    moments = variance_moments(scores, fixed="place", terms=_TERMS)
    if moments is None or not {"backbone", "loss"} <= moments.variances.keys():
        return None
    variances = [moments.variances.get(name, 0.0) for name in _LABELS]
    if not (total := sum(variances)):
        return None
    return pl.DataFrame(
        {
            "source": [*_LABELS],
            "spread": [variance**0.5 for variance in variances],
            "share": [variance / total for variance in variances],
        }
    )


def _table(found: pl.DataFrame, scores: pl.DataFrame, metric: str) -> Table:
    has_ranges = found["low"].count() > 0
    columns = (
        Column.text("Source", "label", order="order"),
        Column.number("Standard deviation, points", "spread", factor=PERCENT),
        Column.share("Share of the variance, %", "share", 1),
        Column.interval("When one is left out, %", "low", "high", 1, factor=PERCENT)
        if has_ranges
        else None,
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
        found.with_row_index("order").with_columns(label=pl.col("source").replace(_LABELS)),
        columns,
        name="backbone-or-loss-table",
        caption=f"Variance components of test {metric}, by moments ({design},"
        f" {counted(scores.height, 'final trial')})",
        note=note if has_ranges else "",
    )
