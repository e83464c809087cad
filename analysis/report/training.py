"""Learning curves of the tuned losses, and search histories, a block at a time."""

from collections.abc import Mapping

import polars as pl

from podium.analysis.figures.axis import Axis
from podium.analysis.figures.lines import Line, lines_plot, thinned
from podium.analysis.figures.plot import Plot
from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Fold, Illustration, Section
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.report.shown_blocks import points_of_line, ranked_losses
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.wording import MISSING, counted
from podium.orchestrator.results.records.metric_columns import DIAGNOSTICS

_MOST_EPOCHS = 6  # columns of the table
_DIGITS = 3  # of diagnostics
_STATES = ("COMPLETE", "PRUNED", "FAILED")


def learning_curves(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None without a finished winner that has a validation curve."""
    by_epoch = _by_epoch(results.curves)
    if by_epoch.is_empty():
        return None
    most = points_of_line(by_epoch.select("block", "loss").n_unique())
    axis = Axis(label=f"Validation {results.metric}, %")
    figure = Illustration(
        name="learning-curves",
        plots=tuple(
            _curve_plot(results, panel, series, axis, most, name=f"curves-{position}")
            for position, panel in enumerate(by_epoch.partition_by("block", maintain_order=True))
        ),
        caption=f"Validation {results.metric} of the tuned losses by epoch: mean and range (band)"
        f" of {counted(max(by_epoch['seeds']), 'seed')}; folds are averaged within a seed.",
        selector="Block" if by_epoch["block"].n_unique() > 1 else "",
        table=_curves_table(by_epoch, series, results.score_word),
    )
    further = _diagnostics(results, series)
    parts = () if further is None else (Fold(summary="What else training did", parts=(further,)),)
    return Section(name="training", title="Learning curves", parts=(figure, *parts))


def _diagnostics(results: StudyResults, series: Mapping[str, Series]) -> Illustration | None:
    found = results.diagnostics
    by_metric = {metric: _by_epoch(found.filter(metric=metric)) for metric in DIAGNOSTICS}
    panels = [
        (DIAGNOSTICS[metric], panel)
        for metric, by_epoch in by_metric.items()
        for panel in by_epoch.partition_by("block", maintain_order=True)
    ]
    if not panels:
        return None
    has_blocks = found["block"].n_unique() > 1
    most = points_of_line(sum(panel["loss"].n_unique() for _, panel in panels))
    return Illustration(
        name="diagnostics",
        plots=tuple(
            _curve_plot(
                results,
                panel,
                series,
                Axis(label=title, digits=_DIGITS),
                most,
                name=f"diagnostics-{position}",
                title=title,
                label=f"{title}, {panel['block'][0]}" if has_blocks else title,
            )
            for position, (title, panel) in enumerate(panels)
        ),
        caption="Of the tuned losses by epoch: means of a training epoch, and how validation"
        " embeddings are spread within and between their classes.",
        selector="Curve",
        table=_diagnostics_table(by_metric, series),
    )


def _diagnostics_table(
    by_metric: Mapping[str, pl.DataFrame], series: Mapping[str, Series]
) -> Table:
    last = [
        by_epoch.group_by("block", "loss", maintain_order=True)
        .agg(pl.col("mean").last())
        .with_columns(title=pl.lit(DIAGNOSTICS[metric]))
        for metric, by_epoch in by_metric.items()
        if len(by_epoch)
    ]
    rows = pl.concat(last).pivot("title", index=["block", "loss"], values="mean")
    return table(
        rows.sort("block", "loss"),
        (
            Column.text("Block", "block"),
            Column.named("Loss", "loss", series),
            *(
                Column.number(title, title, _DIGITS)
                for title in DIAGNOSTICS.values()
                if title in rows.columns
            ),
        ),
        name="diagnostics-table",
        caption="At the last epoch, means over seeds and folds",
        note="Intra-class variance: mean squared distance of embeddings of length 1 to the mean of"
        " their class. Inter-class variance: that of these means to the mean of all. Effective"
        " rank: exp of the entropy of the covariance's eigenvalues, as shares (Roy & Vetterli"
        " 2007). Active fraction: tuples that have a gradient. Gradient norm: before clipping.",
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


def _curve_plot(
    results: StudyResults,
    panel: pl.DataFrame,
    series: Mapping[str, Series],
    axis: Axis,
    most: int,
    *,
    name: str,
    title: str = "Learning curves",
    label: str = "",
) -> Plot:
    """The plot of one block, which is its label by default."""
    block = str(panel["block"][0])
    parts = {str(part["loss"][0]): part for part in panel.partition_by("loss")}
    return lines_plot(
        [_curve(loss, parts[loss], series, most) for loss in ranked_losses(results, parts)],
        (Axis(label="Epoch", digits=0), axis),
        name=name,
        label=label or block,
        title=f"{title} of {block}",
        band=f"range of {counted(max(panel['seeds']), 'seed')}",
    )


def _curve(loss: str, part: pl.DataFrame, series: Mapping[str, Series], most: int) -> Line:
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


def _curves_table(by_epoch: pl.DataFrame, series: Mapping[str, Series], word: str) -> Table:
    every = sorted(set(by_epoch["epoch"]))
    epochs = [every[position] for position in thinned(len(every), _MOST_EPOCHS)]
    return table(
        by_epoch.pivot("epoch", index=["block", "loss"], values="mean"),
        (
            Column.text("Block", "block"),
            Column.named("Loss", "loss", series),
            *(Column.number(str(epoch), str(epoch)) for epoch in epochs),
        ),
        name="learning-curves-table",
        caption=f"Mean validation {word} in % by epoch; {MISSING} where not every seed got that"
        " far",
    )


def search_history(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section: how the best score of each search rose."""
    history = _history(results, series)
    parts = () if history is None else (history,)
    return Section(name="searches", title="Search history", parts=parts)


def _history(results: StudyResults, series: Mapping[str, Series]) -> Illustration | None:
    trials = results.search_trials.with_columns(
        (pl.col("objective").fill_nan(None) * PERCENT).alias("objective")
    ).sort("block", "loss", "search", "index")
    if not trials["objective"].count():
        return None
    most = points_of_line(trials["search"].n_unique())
    panels = trials.partition_by("block", maintain_order=True)
    plots = [
        lines_plot(
            _incumbents(results, panel, series, most),
            (
                Axis(label="Trial (0 is the published default)", digits=0),
                Axis(label=f"Validation {results.metric}, %"),
            ),
            style="steps",
            name=f"history-{position}",
            label=panel["block"][0],
            title=f"Search history of {panel['block'][0]}",
        )
        for position, panel in enumerate(panels)
    ]
    return Illustration(
        name="search-history",
        plots=tuple(plots),
        caption="Lines: the incumbent, the best complete trial so far. Dots: trials in the order"
        " of suggestion, complete (filled), pruned (hollow, at the value when stopped) or failed"
        f" (× on the lower edge).{_sampled(trials, series, most)}",
        selector="Block" if len(panels) > 1 else "",
        table=_searches_table(trials, series),
    )


def _sampled(trials: pl.DataFrame, series: Mapping[str, Series], most: int) -> str:
    """Which trials are no dots; empty if all are."""
    said = ""
    if any(series[loss].position is None for loss in trials["loss"].unique()):
        said += " Losses in grey have no dots."
    if max(trials["search"].value_counts()["count"]) > most:
        said += f" Of each search {most} trials are dots, spread evenly."
    return said


def _incumbents(
    results: StudyResults, panel: pl.DataFrame, series: Mapping[str, Series], most: int
) -> list[Line]:
    """A line for each search, best loss first."""
    has_repeats = panel["repeat"].n_unique() > 1
    return [
        _incumbent(
            part,
            note=f"repeat {part['repeat'][0]}" if has_repeats else "",
            most=most if series[loss].position is not None else 0,
        )
        for loss in ranked_losses(results, set(panel["loss"]))
        for part in panel.filter(loss=loss).partition_by("search", maintain_order=True)
    ]


def _incumbent(part: pl.DataFrame, *, note: str, most: int) -> Line:
    """The incumbent of one search where it rises, and at most so many of its trials.

    Only complete trials can be the incumbent: pruned ones were seen for fewer epochs.
    """
    complete = part.filter(pl.col("state") == "COMPLETE").drop_nulls("objective")
    best = complete.select("index", pl.col("objective").cum_max())
    rises = best.filter((pl.col("objective").diff() > 0).fill_null(value=True))
    corners = rises.rows()
    if corners and corners[-1][0] < part["index"][-1]:
        corners.append((part["index"][-1], corners[-1][1]))
    dots = part[thinned(part.height, most)] if most else part.clear()
    return Line(
        name=part["loss"][0],
        xs=tuple(index for index, _ in corners),
        ys=tuple(value for _, value in corners),
        note=note,
        dots=dots.select("index", "objective", pl.col("state").str.to_lowercase()).rows(),
    )


def _searches_table(trials: pl.DataFrame, series: Mapping[str, Series]) -> Table:
    """Ties for the best go to the earlier trial, as in the search itself."""
    complete = trials.filter(pl.col("state") == "COMPLETE").drop_nulls("objective")
    bests = complete.sort("objective", descending=True, maintain_order=True).group_by("search")
    searches = (
        trials.group_by("block", "loss", "search", "repeat", maintain_order=True)
        .agg(
            *((pl.col("state") == state).sum().alias(state) for state in _STATES),
            pl.col("objective").filter("is_default").drop_nulls().first().alias("default"),
        )
        .join(bests.agg(pl.col("objective", "index").first()), on="search", how="left")
    )
    return table(
        searches.sort("block", "loss", "search"),
        (
            Column.text("Block", "block"),
            Column.named("Loss", "loss", series),
            Column.number("Repeat", "repeat", 0) if searches["repeat"].n_unique() > 1 else None,
            *(Column.count(state.capitalize(), state) for state in _STATES),
            Column.number("Default, val %", "default"),
            Column.number("Best, val %", "objective"),
            Column.number("Best trial", "index", 0),
        ),
        name="search-history-table",
        caption="The searches",
    )
