"""Tuning gains: each loss at its published default and tuned, on validation and on test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from analysis.estimates.confidence_intervals import FEWEST_VALUES, grouped_interval
from analysis.figures.estimate import Estimate
from analysis.figures.intervals import IntervalAxis, IntervalRow, IntervalWords, intervals_plot
from analysis.figures.plot import Plot
from analysis.figures.series import Series
from analysis.page.html_page import (
    Cell,
    Column,
    Fold,
    Illustration,
    Paragraph,
    Part,
    Section,
    Table,
)
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.tournament.block_groups import BlockGroups, block_groups
from analysis.wording import counted, in_percent, range_below, range_of

_LEVELS = ("val_default", "val_winner", "test_default", "test_winner")
_GROUP = ("dataset", "backbone")
_LEVEL_LABELS = ("Default, val", "Tuned, val", "Default, test", "Tuned, test")


@dataclass(frozen=True, slots=True, kw_only=True)
class _TuningRow:
    """Estimates of one loss.

    Attributes:
        name: name of the loss.
        series: look of the loss.
        levels: means over blocks in percent: default and tuned on validation, then on test.
        gain: tuned minus default on test, in points.
    """

    name: str
    series: Series
    levels: tuple[float | None, ...]
    gain: Estimate | None


def tuning_gains(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section, or a sentence that no final trial was tested yet."""
    is_tested = not results.selection.is_empty()
    none = (Paragraph(text="No final trial has been tested yet."),)
    parts = _parts(results, series) if is_tested else none
    return Section(name="tuning", title="Tuning gains", parts=parts)


def _parts(results: StudyResults, series: Mapping[str, Series]) -> tuple[Part, ...]:
    selection = results.selection
    rows = [_row(selection, loss, series[loss]) for loss in sorted(set(selection["loss"]))]
    blocks = counted(selection["block"].n_unique(), "block")
    every_block = Fold(summary="Every block", parts=(_per_block(results, series),))
    figure = (_figure(rows, _groups(selection), series, blocks),) if _has_gains(rows) else ()
    return (_summary(results, rows, series), *figure, every_block)


def _figure(
    rows: Sequence[_TuningRow], groups: BlockGroups, series: Mapping[str, Series], blocks: str
) -> Illustration:
    has_intervals = groups.number >= FEWEST_VALUES
    lines = (
        f"Lines: 95 % t intervals over {groups.counted}"
        if has_intervals
        else f"No intervals: they take {FEWEST_VALUES} {groups.noun}s"
    )
    below = "; 95 % t intervals below" if has_intervals else ""
    return Illustration(
        name="tuning-gains",
        plots=(_gain_plot(rows),),
        caption="Gain of tuning: tuned minus published default on test, same seeds and"
        f" blocks. {lines}.",
        table=Table(
            name="tuning-gains-table",
            caption=f"Gain on test in points, mean over {blocks}{below}",
            columns=(*Column.texts("Loss"), *Column.numbers("Gain on test")),
            rows=tuple((Cell.named(row.name, series), _with_interval(row.gain)) for row in rows),
            is_sortable=True,
        ),
    )


def _gain_plot(rows: Sequence[_TuningRow]) -> Plot:
    return intervals_plot(
        [IntervalRow(name=row.name, estimate=row.gain, series=row.series) for row in rows],
        IntervalAxis(label="Gain on test, points", reference=0),
        IntervalWords(value="gain of tuning on test, points"),
        name="tuning-gains-plot",
        title="Gain of tuning over the published default",
        description="One line for each loss: the mean gain over blocks with its interval; zero is"
        " marked. The numbers are in the table.",
    )


def _groups(selection: pl.DataFrame) -> BlockGroups:
    blocks = selection.select("block", *_GROUP).unique("block").sort("block")
    return block_groups(blocks.select(_GROUP).to_dicts(), blocks["block"].to_list())


def _has_gains(rows: Sequence[_TuningRow]) -> bool:
    """Whether any search selected another config than the default; else all gains are zero."""
    return any(
        row.gain is not None and (row.gain.value != 0 or row.gain.low not in (0, None))
        for row in rows
    )


def _with_interval(found: Estimate | None) -> Cell:
    if found is None:
        return Cell.number(None)
    return Cell.number(found.value, detail=range_below(found.low, found.high))


def _row(selection: pl.DataFrame, loss: str, look: Series) -> _TuningRow:
    mine = selection.filter(pl.col("loss") == loss)
    return _TuningRow(
        name=loss,
        series=look,
        levels=tuple(_mean(mine, name) for name in _LEVELS),
        gain=_estimate(mine, "gain"),
    )


def _mean(blocks: pl.DataFrame, column: str) -> float | None:
    found = _estimate(blocks, column)
    return found.value if found else None


def _estimate(blocks: pl.DataFrame, column: str) -> Estimate | None:
    known = blocks.with_columns(pl.col(column).fill_nan(None) * PERCENT).drop_nulls(column)
    if known.is_empty():
        return None
    interval = grouped_interval(known[column].to_list(), known.select(_GROUP).rows())
    return Estimate(value=interval.estimate, low=interval.low, high=interval.high)


def _summary(results: StudyResults, rows: list[_TuningRow], series: Mapping[str, Series]) -> Table:
    overall = {row["loss"]: row for row in results.overall.to_dicts()}
    lines = []
    for row in rows:
        found = overall[row.name]
        lines.append(
            (
                Cell.named(row.name, series),
                *map(Cell.number, row.levels),
                _gain(found, "gain"),
                _gain(found, "above_untrained"),
                Cell(text=f"{found['num_kept_default']} of {found['num_blocks']}"),
            )
        )
    gains = ("Gain on test", "Above untrained", "Default won")
    return Table(
        name="tuning-summary",
        caption=f"{results.metric} in %, mean over blocks; gains on test in points, paired by"
        " block, with 95 % t intervals over groups of blocks below them, from"
        f" {FEWEST_VALUES} groups on",
        columns=(*Column.texts("Loss"), *Column.numbers(*_LEVEL_LABELS, *gains)),
        rows=tuple(lines),
        note="“Default won” counts the blocks whose search found nothing better than the published"
        " default; their gain is zero."
        f"{_missing_note(results.selection)}{_pruned_note(results.selection)}",
        is_sortable=True,
    )


def _missing_note(selection: pl.DataFrame) -> str:
    if not any(selection[name].has_nulls() for name in _LEVELS):
        return ""
    return (
        " Some blocks lack some of these scores: a level is the mean over the blocks that have it,"
        " a gain over those that have both, so a gain is no difference of two levels."
    )


def _pruned_note(selection: pl.DataFrame) -> str:
    count = selection.filter(pl.col("default_state") == "PRUNED").height
    if not count:
        return ""
    return (
        f" In {counted(count, 'search', 'searches')} the default was stopped early: its"
        " validation value is from fewer epochs. On test it was trained in full."
    )


def _per_block(results: StudyResults, series: Mapping[str, Series]) -> Table:
    winners = results.test_classes.filter(pl.col("finalist") == "winner")
    classes = {
        (block, loss, protocol): (low, high)
        for block, loss, protocol, low, high in winners.select(
            "block", "loss", "protocol", "low", "high"
        ).iter_rows()
    }
    lines = tuple(
        (
            Cell.word(row["block"]),
            Cell.named(row["loss"], series),
            *(Cell.share(row[name]) for name in _LEVELS[:-1]),
            _tested(row["test_winner"], classes.get((row["block"], row["loss"], row["protocol"]))),
            Cell.signed(in_percent(row["gain"])),
            Cell(text=range_of(in_percent(row["gain_low"]), in_percent(row["gain_high"]))),
            Cell.number(row["num_seeds"], 0),
            Cell.share(row["test_untrained"]),
        )
        for row in results.selection.to_dicts()
    )
    more = ("Gain on test", "95 % interval", "Seeds", "Untrained, test")
    return Table(
        name="tuning-blocks",
        caption=f"{results.metric} in % by block.{_interval_text(results)} The interval of a gain"
        " is Student's t over its seeds, or over the repeats of the search if there are several.",
        columns=(*Column.texts("Block", "Loss"), *Column.numbers(*_LEVEL_LABELS, *more)),
        rows=lines,
        is_sortable=True,
    )


def _interval_text(results: StudyResults) -> str:
    if not results.is_by_class:
        return ""
    return " Below the tuned test recall its 95 % bootstrap interval over test classes."


def _gain(found: Mapping[str, float | None], name: str) -> Cell:
    value, low, high = (in_percent(found[f"{name}{end}"]) for end in ("", "_low", "_high"))
    return Cell.signed(value, detail=range_below(low, high))


def _tested(value: float | None, interval: tuple[float | None, float | None] | None) -> Cell:
    low, high = map(in_percent, interval or (None, None))
    return Cell.share(value, detail=range_below(low, high))
