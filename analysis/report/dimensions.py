"""Recall@K by dimension: prefixes of one embedding beside embeddings trained at each length."""

from collections.abc import Mapping

import polars as pl

from podium.analysis.figures.axis import Axis
from podium.analysis.figures.lines import Line, lines_plot
from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Illustration, Section
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.study_results.study_results import PERCENT, StudyResults

_PREFIX = r"^recall_of_first_(\d+)$"
_PLACE = ("dataset", "backbone", "image_size")


def dimensions(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None if no final was scored by prefixes of its embedding."""
    scores = _scores(results)
    if scores.is_empty():
        return None
    plots = [
        lines_plot(
            [_line(part, series) for part in of_place.partition_by("loss", "trained")],
            (_axis(of_place), Axis(label=f"Test {results.metric}, %")),
            name=f"dimensions-{position}",
            label=str(of_place["place"][0]),
            title=f"{results.metric} by dimension of {of_place['place'][0]}",
            band="range of the finals",
            style="points",
        )
        for position, of_place in enumerate(scores.partition_by("place", maintain_order=True))
    ]
    figure = Illustration(
        name="recall-by-dimension",
        plots=tuple(plots),
        caption=f"Test {results.metric} of the tuned losses by dimension. A line of a matryoshka:"
        " loss is one training: its whole embedding and prefixes of it. Each point of another loss"
        " is a training of its own.",
        selector="Network" if len(plots) > 1 else "",
        table=_table(scores, series, results.metric),
    )
    return Section(name="dimensions", title="Prefixes of the embedding", parts=(figure,))


def _scores(results: StudyResults) -> pl.DataFrame:
    """Mean and range over seeds and folds, in percent, where any loss has prefixes.

    ``place``, ``loss``, ``trained`` (dimension of the training; 0 joins those of a loss without
    prefixes), ``dim``, ``mean``, ``low``, ``high``.
    """
    finals = results.winners.select(
        "trial_id",
        "loss",
        "embedding_dim",
        place=pl.concat_str(*_PLACE, separator=" ", ignore_nulls=True),
    ).unique()
    is_recall = (pl.col("metric") == "recall") | pl.col("metric").str.contains(_PREFIX)
    scores = (
        results.reader.test_scores()
        .filter(is_recall, pl.col("k") == results.k)
        .select("trial_id", "value", prefix=pl.col("metric").str.extract(_PREFIX).cast(pl.Int32))
        .collect()
        .join(finals, on="trial_id")
    )
    has_prefixes = pl.col("prefix").is_not_null().any()
    return (
        scores.filter(has_prefixes.over("place"))
        .with_columns(
            trained=pl.when(has_prefixes.over("place", "loss")).then("embedding_dim").otherwise(0),
            dim=pl.coalesce("prefix", "embedding_dim"),
        )
        .group_by("place", "loss", "trained", "dim")
        .agg(
            mean=pl.col("value").sort().mean() * PERCENT,
            low=pl.col("value").min() * PERCENT,
            high=pl.col("value").max() * PERCENT,
        )
        .sort("place", "loss", "trained", "dim")
    )


def _line(part: pl.DataFrame, series: Mapping[str, Series]) -> Line:
    loss, trained = part["loss"][0], part["trained"][0]
    has_band = series[loss].position is not None
    return Line(
        name=loss,
        xs=tuple(part["dim"]),
        ys=tuple(part["mean"]),
        lows=tuple(part["low"]) if has_band else (),
        highs=tuple(part["high"]) if has_band else (),
        note=f"trained at {trained}" if trained else "",
    )


def _axis(scores: pl.DataFrame) -> Axis:
    ticks = tuple((float(dim), str(dim)) for dim in sorted(set(scores["dim"])))
    return Axis(label="Dimension", scale="log", ticks=ticks, digits=0)


def _table(scores: pl.DataFrame, series: Mapping[str, Series], metric: str) -> Table:
    dims = sorted(set(scores["dim"]), reverse=True)
    return table(
        scores.pivot("dim", index=["place", "loss", "trained"], values="mean"),
        (
            Column.text("Network", "place"),
            Column.named("Loss", "loss", series),
            Column.text("Trained at", lambda row: row["trained"] or "each", is_number=True),
            *(Column.number(str(dim), str(dim), group="Dimension") for dim in dims),
        ),
        name="dimensions-table",
        caption=f"Test {metric} in % by dimension, mean over finals",
    )
