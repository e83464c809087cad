"""Learning curves of the tuned losses, and search histories, a block at a time."""

from collections.abc import Iterator, Mapping

import polars as pl

from podium.analysis.figures.axis import Axis
from podium.analysis.figures.lines import Line, lines_plot, thinned
from podium.analysis.figures.plot import Plot
from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Fold, Illustration, Part, Section
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.report.shown_blocks import points_of_line, ranked_losses
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.wording import MISSING, counted
from podium.orchestrator.results.records.metric_columns import DIAGNOSTICS

_MOST_EPOCHS = 6  # columns of the table
_DIGITS = 3  # of diagnostics
_MEANING = (
    "Intra-class variance: mean squared distance of embeddings of length 1 to the mean of their"
    " class. Inter-class variance: that of these means to the mean of all. Effective rank: exp of"
    " the entropy of the covariance's eigenvalues, as shares (Roy & Vetterli 2007). Active"
    " fraction: tuples that have a gradient. Gradient norm: before clipping."
)
_STATES = ("COMPLETE", "PRUNED", "FAILED")


def learning_curves(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None without a finished winner that has a validation curve."""
    by_epoch = _by_epoch(results.curves)
    is_objective = pl.col("metric") == results.objective
    validated, further = by_epoch.filter(is_objective), by_epoch.filter(~is_objective)
    if validated.is_empty():
        return None
    axis = Axis(label=f"Validation {results.metric}, %")
    figure = Illustration(
        name="learning-curves",
        plots=tuple(_curve_plots(results, validated, series, {results.objective: axis})),
        caption=f"Validation {results.metric} of the tuned losses by epoch: mean and range (band)"
        f" of {counted(max(validated['seeds']), 'seed')}; folds are averaged within a seed.",
        selector="Setting" if validated["block"].n_unique() > 1 else "",
        table=_curves_table(validated, series, results.score_word),
    )
    parts: list[Part] = [figure]
    if len(further):
        shown = _diagnostics(results, further, series)
        parts.append(Fold(summary="What else training did", parts=(shown,)))
    return Section(name="training", title="Learning curves", parts=tuple(parts))


def _diagnostics(
    results: StudyResults, by_epoch: pl.DataFrame, series: Mapping[str, Series]
) -> Illustration:
    axes = {metric: Axis(label=title, digits=_DIGITS) for metric, title in DIAGNOSTICS.items()}
    last = by_epoch.group_by("metric", "block", "loss").agg(pl.col("mean").last())
    last = last.with_columns(title=pl.col("metric").replace_strict(DIAGNOSTICS))
    rows = last.pivot("title", index=["block", "loss"], values="mean").sort("block", "loss")
    return Illustration(
        name="diagnostics",
        plots=tuple(_curve_plots(results, by_epoch, series, axes)),
        caption="Of the tuned losses by epoch: means of a training epoch, and how validation"
        " embeddings are spread within and between their classes.",
        selector="Curve",
        table=table(
            rows,
            (
                Column.text("Setting", "block"),
                Column.named("Loss", "loss", series),
                *(
                    Column.number(title, title, _DIGITS)
                    for title in DIAGNOSTICS.values()
                    if title in rows.columns
                ),
            ),
            name="diagnostics-table",
            caption="At the last epoch, means over seeds and folds",
            note=_MEANING,
        ),
    )


def _by_epoch(curves: pl.DataFrame) -> pl.DataFrame:
    """Mean, range and number of seeds at each epoch that all seeds of a cell reached."""
    curve = ["metric", "block", "loss"]
    run = [*curve, "repeat", "seed_index"]
    per_seed = curves.drop_nulls("value").group_by(*run, "epoch").agg(pl.col("value").mean())
    by_epoch = per_seed.group_by(*curve, "epoch").agg(
        pl.col("value").sort().mean().alias("mean"),
        pl.col("value").min().alias("low"),
        pl.col("value").max().alias("high"),
        pl.len().alias("seeds"),
    )
    is_full = pl.col("seeds") == pl.col("seeds").max().over(curve)
    return by_epoch.filter(is_full).sort(*curve, "epoch")


def _curve_plots(
    results: StudyResults,
    by_epoch: pl.DataFrame,
    series: Mapping[str, Series],
    axes: Mapping[str, Axis],
) -> Iterator[Plot]:
    """A plot for each metric, in the order of its axes, and block."""
    most = points_of_line(by_epoch.select("metric", "block", "loss").n_unique())
    panels = [
        (axis, panel)
        for metric, axis in axes.items()
        for panel in by_epoch.filter(metric=metric).partition_by("block", maintain_order=True)
    ]
    is_only = len(axes) == 1
    for position, (axis, panel) in enumerate(panels):
        block = str(panel["block"][0])
        parts = {str(part["loss"][0]): part for part in panel.partition_by("loss")}
        yield lines_plot(
            [_curve(loss, parts[loss], series, most) for loss in ranked_losses(results, parts)],
            (Axis(label="Epoch", digits=0), axis),
            name=f"{'curves' if is_only else 'diagnostics'}-{position}",
            label=block if is_only else f"{axis.label}, {block}",
            title=f"{'Learning curves' if is_only else axis.label} of {block}",
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
            Column.text("Setting", "block"),
            Column.named("Loss", "loss", series),
            *(Column.number(f"Epoch {epoch}", str(epoch)) for epoch in epochs),
        ),
        name="learning-curves-table",
        caption=f"Mean validation {word} in % by epoch; {MISSING} where not every seed got that"
        " far",
    )


def search_history(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section: how the best score of each search rose; None before a trial has a score."""
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
    history = Illustration(
        name="search-history",
        plots=tuple(plots),
        caption="Lines: the incumbent, the best complete trial so far. Dots: trials in the order"
        " of suggestion, complete (filled), pruned (hollow, at the value when stopped, of the"
        " folds so far) or failed"
        f" (× on the lower edge).{_sampled(trials, series, most)}",
        selector="Setting" if len(panels) > 1 else "",
        table=_searches_table(trials, series),
    )
    return Section(name="searches", title="Search history", parts=(history,))


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
            Column.text("Setting", "block"),
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
