"""What the tuned losses did over the epochs, a block at a time: validation and training."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from analysis.figures.axis import Axis
from analysis.figures.lines import Line, lines_plot, thinned
from analysis.figures.plot import Plot
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Illustration, Table
from analysis.report.shown_blocks import points_of_line, ranked_losses
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.wording import MISSING, counted

_MOST_EPOCHS = 6  # columns of the table
_EPOCH = Axis(label="Epoch", digits=0)


def learning_curves(results: StudyResults, series: Mapping[str, Series]) -> Illustration | None:
    """Validation by epoch; None without a finished winner that has a validation curve."""
    by_epoch = _by_epoch(results.curves)
    if by_epoch.is_empty():
        return None
    label = f"Validation {results.metric}, %"
    plots = _plots(
        results,
        by_epoch,
        series,
        y=Axis(label=label),
        name="curves",
        title="Learning curves",
        description=f"{label} by epoch, one line for each loss with the range of its seeds.",
    )
    return Illustration(
        name="learning-curves",
        plots=tuple(plots),
        caption=f"Validation {results.metric} of the tuned losses by epoch: mean and range (band)"
        f" of {counted(max(by_epoch['seeds']), 'seed')}; folds are averaged within a seed.",
        selector=_selector(by_epoch),
        table=_table(
            by_epoch,
            series,
            name="learning-curves-table",
            caption=f"Mean validation {results.score_word} in % by epoch; {MISSING} where not"
            " every seed got that far",
        ),
    )


def training_diagnostics(
    results: StudyResults, series: Mapping[str, Series]
) -> Illustration | None:
    """Training loss and active fraction by epoch; None where training recorded neither."""
    losses = _by_epoch(results.training_scores.filter(metric="loss"))
    active = _by_epoch(results.training_scores.filter(metric="active_fraction"))
    if losses.is_empty() and active.is_empty():
        return None
    plots = (
        *_plots(
            results,
            _within_own_range(losses),
            series,
            y=Axis(label="Training loss, % of its own range"),
            name="training-loss",
            title="Training loss",
            description="The training loss by epoch, one line for each loss.",
        ),
        *_plots(
            results,
            _in_percent(active),
            series,
            y=Axis(label="Active pairs, triplets or images, %"),
            name="active",
            title="Active fraction",
            description="The share of what a loss sums over that was above 0, by epoch.",
        ),
    )
    return Illustration(
        name="diagnostics",
        plots=plots,
        caption="Training of the tuned losses by epoch, mean and range of seeds. Each loss has a"
        " unit of its own, so it is drawn from its lowest (0) to its highest value (100) of the"
        " block. Active: the share of pairs, triplets or images whose loss is above 0.",
        selector=_selector(pl.concat([losses, active])),
        table=_table(
            losses, series, name="diagnostics-table", caption="Mean training loss by epoch"
        ),
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


def _within_own_range(by_epoch: pl.DataFrame) -> pl.DataFrame:
    """Percent of the range of the means of each block and loss; 0 where that has no width."""
    low = pl.col("mean").min().over("block", "loss")
    width = pl.col("mean").max().over("block", "loss") - low
    shares = [
        pl.when(width > 0).then(PERCENT * (pl.col(name) - low) / width).otherwise(0.0).alias(name)
        for name in ("mean", "low", "high")
    ]
    return by_epoch.with_columns(shares)


def _in_percent(by_epoch: pl.DataFrame) -> pl.DataFrame:
    return by_epoch.with_columns(pl.col("mean", "low", "high") * PERCENT)


def _selector(by_epoch: pl.DataFrame) -> str:
    return "Block" if by_epoch["block"].n_unique() > 1 else ""


def _plots(
    results: StudyResults,
    by_epoch: pl.DataFrame,
    series: Mapping[str, Series],
    *,
    y: Axis,
    name: str,
    title: str,
    description: str,
) -> Iterator[Plot]:
    """A plot for each block."""
    most = points_of_line(by_epoch.select("block", "loss").n_unique())
    for position, panel in enumerate(by_epoch.partition_by("block", maintain_order=True)):
        block = str(panel["block"][0])
        parts = {str(part["loss"][0]): part for part in panel.partition_by("loss")}
        yield lines_plot(
            [_line(loss, parts[loss], series, most) for loss in ranked_losses(results, parts)],
            x=_EPOCH,
            y=y,
            name=f"{name}-{position}",
            label=block,
            title=f"{title} of {block}",
            description=description,
            band=f"range of {counted(max(panel['seeds']), 'seed')}",
        )


def _line(loss: str, part: pl.DataFrame, series: Mapping[str, Series], most: int) -> Line:
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


def _table(
    by_epoch: pl.DataFrame, series: Mapping[str, Series], *, name: str, caption: str
) -> Table:
    epochs = _spread(sorted(set(by_epoch["epoch"])))
    rows = []
    for (block, loss), part in by_epoch.group_by("block", "loss", maintain_order=True):
        means = dict(zip(part["epoch"], part["mean"], strict=True))
        rows.append(
            (
                Cell.word(str(block)),
                Cell.named(str(loss), series),
                *(Cell.number(means.get(epoch)) for epoch in epochs),
            )
        )
    return Table(
        name=name,
        caption=caption,
        columns=(
            *Column.texts("Block", "Loss"),
            *Column.numbers(*(str(epoch) for epoch in epochs)),
        ),
        rows=tuple(rows),
        is_sortable=True,
    )


def _spread(epochs: Sequence[int]) -> list[int]:
    """At most so many of them, the first and the last included."""
    return [epochs[position] for position in thinned(len(epochs), _MOST_EPOCHS)]
