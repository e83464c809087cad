"""Tuning gains: each loss at its published default and tuned, on validation and on test."""

from collections.abc import Mapping, Sequence

import polars as pl

from analysis.estimates.confidence_intervals import t_interval
from analysis.figures.estimate import Estimate
from analysis.figures.style import Series
from analysis.figures.tuning_gains import TuningRow, draw_gains, draw_tuning
from analysis.page.html_page import (
    Cell,
    Column,
    Fold,
    Illustration,
    Paragraph,
    Part,
    Section,
    SideBySide,
    Table,
)
from analysis.report.fairness import fairness_note
from analysis.scores.final_scores import BASELINE
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.wording import counted, number, range_of, signed

__all__ = ["tuning_gains"]

_LEVELS = ("val_default", "val_winner", "test_default", "test_winner")
_LEVEL_LABELS = ("Default, val", "Tuned, val", "Default, test", "Tuned, test")


def tuning_gains(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section, or a sentence that no final trial was tested yet."""
    parts: tuple[Part, ...] = (Paragraph(text="No final trial has been tested yet."),)
    if not results.selection.is_empty():
        parts = _parts(results, series)
    return Section(
        name="tuning",
        title="Tuning gains",
        label="Tuning gains",
        parts=parts,
    )


def _parts(results: StudyResults, series: Mapping[str, Series]) -> tuple[Part, ...]:
    selection = results.selection
    rows = [_row(selection, loss, series[loss]) for loss in sorted(set(selection["loss"]))]
    untrained = _untrained(results)
    with_untrained = [*rows, untrained] if untrained else rows
    blocks = counted(selection["block"].n_unique(), "block")
    metric = results.metric
    levels = Illustration(
        name="tuning-levels",
        plots=(draw_tuning(with_untrained, metric=metric, name="tuning-levels-plot"),),
        caption=f"{metric}, mean over {blocks}. Hollow: published default; filled: tuned; bar:"
        " the untrained network. Validation is the search's own, test the mean of"
        " fresh seeds on classes that no search used. Lines are 95 % t intervals over blocks"
        f" (n = {blocks}), cut at 0 and 100; they mostly show how blocks differ, so compare"
        f" losses by their paired gaps.{_missing_note(selection)}",
        table=_estimates(
            "tuning-levels-table",
            f"{metric} in %, mean over {blocks} with 95 % t intervals below",
            {
                row.name: (
                    row.default_validation,
                    row.tuned_validation,
                    row.default_test,
                    row.tuned_test,
                )
                for row in with_untrained
            },
            _LEVEL_LABELS,
            series,
        ),
    )
    gains = Illustration(
        name="tuning-gains",
        plots=(draw_gains(rows, name="tuning-gains-plot"),),
        caption="Gain of tuning: tuned minus published default on test, same seeds and"
        f" blocks. 95 % t interval over blocks (n = {blocks}).",
        table=_estimates(
            "tuning-gains-table",
            f"Gain on test in points, mean over {blocks} with its 95 % t interval below",
            {row.name: (row.gain,) for row in rows},
            ("Gain on test",),
            series,
        ),
    )
    return (
        _summary(results, rows, series),
        *fairness_note(results),
        SideBySide(parts=(levels, gains)) if _has_gains(rows) else levels,
        Fold(summary="Every block", parts=(_per_block(results, series),)),
    )


def _has_gains(rows: Sequence[TuningRow]) -> bool:
    """Whether any search selected another config than the default; else all gains are zero."""
    return any(
        row.gain is not None and (row.gain.value, row.gain.low, row.gain.high) != (0, 0, 0)
        for row in rows
    )


def _estimates(
    name: str,
    caption: str,
    estimates: Mapping[str, Sequence[Estimate | None]],
    labels: Sequence[str],
    series: Mapping[str, Series],
) -> Table:
    """The numbers that a figure draws, a row for each of its lines."""
    return Table(
        name=name,
        caption=caption,
        columns=(
            Column(label="Loss", is_number=False),
            *(Column(label=label) for label in labels),
        ),
        rows=tuple(
            (Cell(text=loss, series=series.get(loss), order=loss), *map(_with_interval, found))
            for loss, found in estimates.items()
        ),
        is_sortable=True,
    )


def _with_interval(found: Estimate | None) -> Cell:
    low, high = (found.low, found.high) if found else (None, None)
    detail = "" if low is None or high is None else range_of(low, high)
    value = found.value if found else None
    return Cell(text=number(value), detail=detail, order=value)


def _row(selection: pl.DataFrame, loss: str, look: Series) -> TuningRow:
    mine = selection.filter(pl.col("loss") == loss)
    levels = [_estimate(mine[name]) for name in _LEVELS]
    return TuningRow(
        name=loss,
        series=look,
        default_validation=levels[0],
        tuned_validation=levels[1],
        default_test=levels[2],
        tuned_test=levels[3],
        gain=_estimate(mine["gain"]),
    )


def _untrained(results: StudyResults) -> TuningRow | None:
    """The untrained network, a mean of its seeds in each block."""
    baseline = results.finals.filter(pl.col("finalist") == BASELINE)
    validated = baseline.group_by("block").agg(pl.col(results.validation_column).sort().mean())
    tested = results.selection.group_by("block").agg(pl.col("test_untrained").first())
    test = _estimate(tested.sort("block")["test_untrained"])
    if test is None:
        return None
    return TuningRow(
        name=BASELINE,
        series=None,
        default_validation=_estimate(validated.sort("block")[results.validation_column]),
        tuned_validation=None,
        default_test=test,
        tuned_test=None,
        gain=None,
    )


def _estimate(column: pl.Series) -> Estimate | None:
    values = (column.fill_nan(None).drop_nulls() * PERCENT).to_list()
    if not values:
        return None
    interval = t_interval(values)
    return Estimate(value=interval.estimate, low=interval.low, high=interval.high)


def _summary(results: StudyResults, rows: list[TuningRow], series: Mapping[str, Series]) -> Table:
    overall = {row["loss"]: row for row in results.overall.to_dicts()}
    lines = []
    for row in rows:
        found = overall[row.name]
        lines.append(
            (
                Cell(text=row.name, series=series[row.name], order=row.name),
                _level(row.default_validation),
                _level(row.tuned_validation),
                _level(row.default_test),
                _level(row.tuned_test),
                _gain(found, "gain"),
                _gain(found, "above_untrained"),
                Cell(text=_of(found["num_kept_default"], found["num_blocks"])),
            )
        )
    gains = ("Gain on test", "Above untrained", "Default won")
    return Table(
        name="tuning-summary",
        caption=f"{results.metric} in %, mean over blocks; gains on test in points, paired by"
        " block, with 95 % t intervals over blocks below them",
        columns=(
            Column(label="Loss", is_number=False),
            *(Column(label=label) for label in (*_LEVEL_LABELS, *gains)),
        ),
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
            Cell(text=row["block"], order=row["block"]),
            Cell(text=row["loss"], series=series[row["loss"]], order=row["loss"]),
            *(_share(row[name]) for name in _LEVELS[:-1]),
            _tested(row["test_winner"], classes.get((row["block"], row["loss"], row["protocol"]))),
            Cell(text=signed(_points(row["gain"])), order=_points(row["gain"])),
            Cell(text=range_of(_points(row["gain_low"]), _points(row["gain_high"]))),
            Cell(text=number(row["num_seeds"], 0), order=row["num_seeds"]),
            _share(row["test_untrained"]),
        )
        for row in results.selection.to_dicts()
    )
    more = ("Gain on test", "95 % interval", "Seeds", "Untrained, test")
    return Table(
        name="tuning-blocks",
        caption=f"{results.metric} in % by block.{_interval_text(results)} The interval of a gain"
        " is Student's t over its seeds, or over the repeats of the search if there are several.",
        columns=(
            Column(label="Block", is_number=False),
            Column(label="Loss", is_number=False),
            *(Column(label=label) for label in (*_LEVEL_LABELS, *more)),
        ),
        rows=lines,
        is_sortable=True,
    )


def _interval_text(results: StudyResults) -> str:
    if not results.is_by_class:
        return ""
    return " Below the tuned test recall its 95 % bootstrap interval over test classes."


def _gain(found: Mapping[str, float | None], name: str) -> Cell:
    value, low, high = (_points(found[f"{name}{end}"]) for end in ("", "_low", "_high"))
    interval = range_of(low, high) if low is not None else ""
    return Cell(text=signed(value), detail=interval, order=value)


def _level(estimate: Estimate | None) -> Cell:
    value = estimate.value if estimate else None
    return Cell(text=number(value), order=value)


def _tested(value: float | None, interval: tuple[float | None, float | None] | None) -> Cell:
    low, high = (_points(end) for end in interval or (None, None))
    detail = range_of(low, high) if low is not None else ""
    return Cell(text=number(_points(value)), detail=detail, order=_points(value))


def _share(value: float | None) -> Cell:
    return Cell(text=number(_points(value)), order=_points(value))


def _points(value: float | None) -> float | None:
    return None if value is None else PERCENT * value


def _of(count: int, total: int) -> str:
    return f"{count} of {total}"
