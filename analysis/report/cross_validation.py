"""Cross-validation: mean and standard deviation over folds, and every fold."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from analysis.figures.estimate import Estimate
from analysis.figures.intervals import IntervalAxis, IntervalRow, IntervalWords, intervals_plot
from analysis.figures.plot import Plot
from analysis.figures.series import Series
from analysis.page.html_page import (
    Bullets,
    Cell,
    Column,
    Fold,
    Illustration,
    Paragraph,
    Section,
    Table,
)
from analysis.scores.cross_validation import CLASS_MEANING, CrossValidation
from analysis.scores.cross_validation import cross_validation as statistics_of_folds
from analysis.scores.final_scores import BASELINE, CELL_COLUMNS, final_scores, final_trials
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.wording import counted, in_percent, listed

_CONFIGS = {"winner": "tuned", "default": "default", BASELINE: "untrained"}
_BOTH = "tuned = default"
_SIDES = {"val": "Best validation", "test": "Test"}

# Group and label of a column of cells; those without any value are left out.
_MEASURES = (
    ("Test", "Mean", "test_mean"),
    ("Test", "sd", "test_std"),
    ("Test", "se", "class_standard_error"),
    ("Validation", "Mean", "val_mean"),
    ("Validation", "sd", "val_std"),
    ("Validation", "opt", "epoch_optimism"),
    ("", "tau", "tau"),
)

_Row = Mapping[str, Any]


def cross_validation(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section: cells, figure, folds and pairs of losses, by `podium cv`'s computation.

    Of all protocols of the study, by the score that losses are ranked by. None unless a final run
    of several folds was tested.
    """
    finals = final_trials(results.trials.lazy()).filter(pl.col("num_folds") > 1)
    metric, k = results.ranked_by
    tested = final_scores(finals, results.reader.test_scores(), metric)
    if tested.filter(pl.col("k") == k).is_empty():
        return None
    found = statistics_of_folds(results.reader, score=results.ranked_by)
    kept = _kept_configs(finals)
    cells, folds = (_with_configs(frame, kept) for frame in (found.cells, found.folds))
    shown = _Factors(found, cells)
    pairs = found.pairs.filter(pl.col("finalist") == "winner")
    return Section(
        name="cross-validation",
        title="Cross-validation",
        parts=(
            Paragraph(text=_introduction(found, cells)),
            _cells_table(cells, series, shown, found.metric),
            _figure(cells, folds, series, shown, found.metric),
            *((_pairs_table(pairs, shown),) if len(pairs) else ()),
            Fold(
                summary="What these numbers mean",
                parts=(Bullets(items=(found.notes[0], CLASS_MEANING, *found.notes[1:])),),
            ),
        ),
    )


class _Factors:
    """Columns that say which cell a row is of: block and protocol only where they vary."""

    def __init__(self, found: CrossValidation, cells: pl.DataFrame) -> None:
        self._titles = found.titles
        labels = {"block": "Block", "protocol": "Protocol"}
        self._names = [name for name in labels if cells[name].n_unique() > 1]
        self.columns = Column.texts(*(labels[name] for name in self._names))
        fixed = [
            self.text(cells.row(0, named=True), name) for name in labels if name not in self._names
        ]
        self.fixed = f" ({'; '.join(fixed)})" if fixed else ""

    def text(self, row: _Row, name: str) -> str:
        """The block, or how the protocol tuned and split."""
        return self._titles[row[name]] if name == "protocol" else str(row[name])

    def cells(self, row: _Row) -> tuple[Cell, ...]:
        """The cells of these columns."""
        return tuple(Cell.word(self.text(row, name)) for name in self._names)

    def group(self, row: _Row) -> str:
        """The same as one text; empty where nothing varies."""
        return ", ".join(self.text(row, name) for name in self._names)


def _kept_configs(finals: pl.DataFrame) -> pl.DataFrame:
    """Cells whose search selected the published default: winner and default are the same runs."""
    is_both = (pl.col("is_winner") & pl.col("is_default")).all()
    return finals.group_by(CELL_COLUMNS).agg(is_both.alias("is_both"))


def _with_configs(frame: pl.DataFrame, kept: pl.DataFrame) -> pl.DataFrame:
    """The rows with ``config``, those of a winner that is the default once."""
    label = pl.when("is_both").then(pl.lit(_BOTH))
    return (
        frame.join(kept, on=list(CELL_COLUMNS), how="left", maintain_order="left")
        .filter(~(pl.col("is_both") & (pl.col("finalist") == "default")))
        .with_columns(config=label.otherwise(pl.col("finalist").replace_strict(_CONFIGS)))
    )


def _introduction(found: CrossValidation, cells: pl.DataFrame) -> str:
    planned = cells.select(pl.col("num_folds") + pl.col("num_missing")).to_series()
    folds = listed([str(count) for count in planned.unique().sort()], last="or")
    seeds = " Seeds are averaged within a fold." if cells["num_seeds"].max() != 1 else ""
    missing = int(cells["num_missing"].sum())
    return (
        f"{found.metric} over {folds} folds of the training classes, in %: each fold holds out"
        " other classes, chooses its epoch by them, and is tested once on the test classes, which"
        " are the same for all. Standard deviations are sample standard deviations over folds."
        + seeds
        + (f" Missing: {counted(missing, 'fold')}." if missing else "")
    )


def _cells_table(
    cells: pl.DataFrame, series: Mapping[str, Series], shown: _Factors, metric: str
) -> Table:
    known = [it for it in _MEASURES if cells[it[2]].is_not_null().any()]
    rows = cells.sort("block", "protocol", "loss", "config").to_dicts()
    return Table(
        name="cross-validation-cells",
        caption=f"{metric} in %, mean and sample standard deviation (sd) over folds{shown.fixed}",
        columns=(
            *Column.texts("Loss", "Config"),
            *shown.columns,
            *Column.numbers("Folds"),
            *(Column(label=label, group=group) for group, label, _ in known),
        ),
        rows=tuple(
            (
                Cell.named(row["loss"], series),
                Cell(text=row["config"], order=row["config"]),
                *shown.cells(row),
                Cell.count(row["num_folds"]),
                *(
                    Cell.number(row[name]) if name == "tau" else Cell.share(row[name])
                    for _, _, name in known
                ),
            )
            for row in rows
        ),
        note="se: standard error of the test mean over test classes; opt: optimism of the best"
        " epochs; tau: Kendall's, best validation against test score of the folds.",
        is_sortable=True,
    )


def _figure(
    cells: pl.DataFrame,
    folds: pl.DataFrame,
    series: Mapping[str, Series],
    shown: _Factors,
    metric: str,
) -> Illustration:
    trained = cells.filter(pl.col("finalist") != BASELINE)
    return Illustration(
        name="cross-validation-figure",
        plots=tuple(
            _plot(trained, folds, series, shown, side, metric) for side in _known_sides(folds)
        ),
        caption=f"{metric} of each fold (small dots), {_where(folds)}; below them the mean and one"
        " sample standard deviation to each side. Tuned losses are filled, published defaults"
        f" hollow; {counted(len(folds), 'fold')} in all.",
        table=_folds_table(folds, series, shown, metric),
    )


def _known_sides(folds: pl.DataFrame) -> list[str]:
    """Validation too, unless the score is one of test classes only."""
    return [side for side in _SIDES if folds[side].is_not_null().any()]


def _where(folds: pl.DataFrame) -> str:
    """On which classes the scores are, from the left."""
    if len(_known_sides(folds)) == 1:
        return "on the test classes"
    return (
        "at the left on the classes that it holds out, at its best epoch, at the right on the test"
        " classes (other classes and galleries: levels of the two do not compare)"
    )


def _plot(
    cells: pl.DataFrame,
    folds: pl.DataFrame,
    series: Mapping[str, Series],
    shown: _Factors,
    side: str,
    metric: str,
) -> Plot:
    known = folds.drop_nulls(side)
    scores = {
        cell: tuple(value * PERCENT for value in of_cell[side])
        for cell, of_cell in known.group_by(CELL_COLUMNS, maintain_order=True)
    }
    rows = [
        _line(row, scores.get(tuple(row[name] for name in CELL_COLUMNS), ()), series, shown, side)
        for row in cells.sort("block", "protocol", "loss", "config").to_dicts()
    ]
    return intervals_plot(
        sorted(rows, key=lambda row: row.group),
        IntervalAxis(label=f"{_SIDES[side]} {metric}, %"),
        IntervalWords(value="mean", interval="one standard deviation:", dots="folds"),
        name=f"cross-validation-plot-{side}",
        title=f"{_SIDES[side]} {metric} of folds",
        description="A line for each loss and config: a dot for each fold, their mean and"
        " standard deviation. The numbers are in the table.",
        label=_SIDES[side],
    )


def _line(
    row: _Row, scores: Sequence[float], series: Mapping[str, Series], shown: _Factors, side: str
) -> IntervalRow:
    is_default = row["finalist"] == "default"
    mean, std = in_percent(row[f"{side}_mean"]), in_percent(row[f"{side}_std"])
    return IntervalRow(
        name=f"{row['loss']}, default" if is_default else row["loss"],
        group=shown.group(row),
        series=series[row["loss"]],
        dots=tuple(scores),
        estimate=None
        if mean is None
        else Estimate(
            value=mean,
            low=None if std is None else mean - std,
            high=None if std is None else mean + std,
        ),
        is_filled=not is_default,
    )


def _folds_table(
    folds: pl.DataFrame, series: Mapping[str, Series], shown: _Factors, metric: str
) -> Table:
    rows = folds.sort("block", "protocol", "loss", "config", "fold").to_dicts()
    has_seeds = folds["num_seeds"].max() != 1
    has_val = "val" in _known_sides(folds)
    best = (
        "the best validation score, its epoch," if has_val else "the epoch of the best validation"
    )
    return Table(
        name="cross-validation-folds",
        caption=f"{metric} of every fold in %: {best} and the test score at that epoch"
        f"{', means over seeds' if has_seeds else ''}{shown.fixed}",
        columns=(
            *Column.texts("Loss", "Config"),
            *shown.columns,
            *Column.numbers("Fold", *(("Best validation",) if has_val else ()), "Epoch", "Test"),
        ),
        rows=tuple(
            (
                Cell.named(row["loss"], series),
                Cell(text=row["config"], order=row["config"]),
                *shown.cells(row),
                Cell.count(row["fold"]),
                *((Cell.share(row["val"]),) if has_val else ()),
                Cell.number(row["epoch"], 1 if has_seeds else 0),
                Cell.share(row["test"]),
            )
            for row in rows
        ),
        note="Folds count from 0, as in the columns of trials.",
        is_sortable=True,
    )


def _pairs_table(pairs: pl.DataFrame, shown: _Factors) -> Table:
    return Table(
        name="cross-validation-pairs",
        caption="Pairs of tuned losses: differences of test scores in points, by the corrected"
        " resampled t test over the same folds, Holm within the block; % a, = and b are"
        f" the probabilities that a is better, both are equivalent, b is better{shown.fixed}",
        columns=(
            *Column.texts("Loss a", "Loss b"),
            *shown.columns,
            *Column.numbers("a − b", "95 % interval", "p (Holm)", "% a", "% =", "% b"),
        ),
        rows=tuple(
            (
                Cell.word(row["a"]),
                Cell.word(row["b"]),
                *shown.cells(row),
                Cell.signed(in_percent(row["mean_difference"])),
                Cell.interval(in_percent(row["low"]), in_percent(row["high"])),
                Cell.p_value(row["p_holm"]),
                *(Cell.share(row[name], 0) for name in ("p_a_better", "p_rope", "p_b_better")),
            )
            for row in pairs.sort("block", "protocol", "a", "b").to_dicts()
        ),
        is_sortable=True,
    )
