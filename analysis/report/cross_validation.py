"""Cross-validation: mean and standard deviation over folds, and every fold."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from podium.analysis.figures.intervals import IntervalAxis, IntervalRow, intervals_plot
from podium.analysis.figures.plot import Plot
from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Bullets, Fold, Illustration, Paragraph, Section
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.scores.cross_validation import CLASS_MEANING, CrossValidation
from podium.analysis.scores.cross_validation import cross_validation as statistics_of_folds
from podium.analysis.scores.final_scores import (
    BASELINES,
    CELL_COLUMNS,
    FEATURES,
    IS_BASELINE,
    final_scores,
    final_trials,
)
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.wording import counted, in_percent, listed

_CONFIGS = {"winner": "tuned", "default": "default", **{name: name for name in BASELINES}}
_CONFIG = pl.col("finalist").replace_strict(_CONFIGS)
_BOTH = "tuned = default"
_SIDES = {"val": "Best validation", "test": "Test"}

# Group, label, name and factor of a column of cells; those without any value are left out.
_MEASURES = (
    ("Test", "Mean", "test_mean", PERCENT),
    ("Test", "sd", "test_std", PERCENT),
    ("Test", "se", "class_standard_error", PERCENT),
    ("Validation", "Mean", "val_mean", PERCENT),
    ("Validation", "sd", "val_std", PERCENT),
    ("", "tau", "tau", 1),
)

# Columns that say which cell a row is of; those that do not vary are in the captions.
_PLACES = {"block": "Setting", "how": "Protocol"}

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
    cells, folds = (_labelled(frame, found, finals) for frame in (found.cells, found.folds))
    table_of_cells, *table_of_pairs = fold_tables(found, finals, series)
    return Section(
        name="cross-validation",
        title="Cross-validation",
        parts=(
            Paragraph(text=_introduction(found, cells)),
            table_of_cells,
            Illustration(
                name="cross-validation-figure",
                plots=tuple(
                    _plot(cells, folds, series, side, found.metric) for side in _known_sides(folds)
                ),
                caption=f"{found.metric} of each fold (small dots), {_where(folds)}; below them"
                " the mean and one sample standard deviation to each side. Tuned losses are"
                " filled, published defaults hollow;"
                f" {counted(len(folds.filter(~IS_BASELINE)), 'fold')} in all.",
                table=_folds_table(folds, series, found.metric),
            ),
            *table_of_pairs,
            Fold(
                summary="What these numbers mean",
                parts=(Bullets(items=meanings(found)),),
            ),
        ),
    )


def fold_tables(
    found: CrossValidation, finals: pl.DataFrame, series: Mapping[str, Series]
) -> list[Table]:
    """The cells, and the pairs of tuned losses if there are any, for the page and the terminal.

    Args:
        found: statistics of a study.
        finals: its final trials of several folds, from `final_trials`.
        series: look of each loss; without a look names have no marker.
    """
    cells = _labelled(found.cells, found, finals)
    pairs = found.pairs.filter(pl.col("finalist") == "winner").with_columns(_how(found))
    tables = [_cells_table(cells, series, f"{found.metric} in %")]
    return [*tables, _pairs_table(pairs, cells)] if len(pairs) else tables


def meanings(found: CrossValidation) -> tuple[str, ...]:
    """What the numbers of the tables mean, in sentences."""
    return found.notes[0], CLASS_MEANING, *found.notes[1:]


def _how(found: CrossValidation) -> pl.Expr:
    return pl.col("protocol").replace_strict(found.titles, return_dtype=pl.String).alias("how")


def _labelled(frame: pl.DataFrame, found: CrossValidation, finals: pl.DataFrame) -> pl.DataFrame:
    """The rows with ``how`` and ``config``; a winner that is the default has its rows once."""
    is_both = (pl.col("is_winner") & pl.col("is_default")).all()
    kept = finals.group_by(CELL_COLUMNS).agg(is_both.alias("is_both"))
    label = pl.when("is_both").then(pl.lit(_BOTH))
    return (
        frame.join(kept, on=list(CELL_COLUMNS), how="left", maintain_order="left")
        .filter(~(pl.col("is_both") & (pl.col("finalist") == "default")))
        .with_columns(_how(found), config=label.otherwise(_CONFIG))
    )


def _varying(cells: pl.DataFrame) -> list[str]:
    return [name for name in _PLACES if cells[name].n_unique() > 1]


def _places(cells: pl.DataFrame) -> list[Column]:
    return [Column.text(_PLACES[name], name) for name in _varying(cells)]


def _within(cells: pl.DataFrame) -> str:
    """What is the same for all cells, in brackets; empty if nothing is."""
    fixed = [cells[name][0] for name in _PLACES if name not in _varying(cells)]
    return f" ({'; '.join(fixed)})" if fixed else ""


def _introduction(found: CrossValidation, cells: pl.DataFrame) -> str:
    split = cells.filter(pl.col("loss") != FEATURES)
    planned = split.select(pl.col("num_folds") + pl.col("num_missing")).to_series()
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


def _cells_table(cells: pl.DataFrame, series: Mapping[str, Series], metric: str) -> Table:
    return table(
        cells.sort("block", "protocol", "loss", "config"),
        (
            Column.named("Loss", "loss", series),
            Column.text("Config", "config"),
            *_places(cells),
            Column.count("Folds", "num_folds"),
            Column.count("Missing", "num_missing") if cells["num_missing"].sum() else None,
            *(
                Column.number(label, name, factor=factor, group=group)
                for group, label, name, factor in _MEASURES
                if cells[name].is_not_null().any()
            ),
        ),
        name="cross-validation-cells",
        caption=f"{metric}, mean and sample standard deviation (sd) over folds{_within(cells)}",
        note="se: standard error of the test mean over test classes; tau: Kendall's, best"
        " validation against test score of the folds.",
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
    side: str,
    metric: str,
) -> Plot:
    known = folds.drop_nulls(side)
    scores = {
        cell: tuple(value * PERCENT for value in of_cell[side])
        for cell, of_cell in known.group_by(CELL_COLUMNS, maintain_order=True)
    }

    def line(row: _Row) -> IntervalRow:
        is_default = row["finalist"] == "default"
        mean, std = in_percent(row[f"{side}_mean"]), in_percent(row[f"{side}_std"])
        low, high = (None, None) if mean is None or std is None else (mean - std, mean + std)
        return IntervalRow(
            name=f"{row['loss']}, default" if is_default else row["loss"],
            group=", ".join(row[name] for name in _varying(cells)),
            series=series[row["loss"]],
            dots=scores.get(tuple(row[name] for name in CELL_COLUMNS), ()),
            value=mean,
            low=low,
            high=high,
            is_filled=not is_default,
        )

    trained = cells.filter(~IS_BASELINE)
    rows = map(line, trained.sort("block", "protocol", "loss", "config").to_dicts())
    return intervals_plot(
        sorted(rows, key=lambda row: row.group),
        IntervalAxis(
            label=f"{_SIDES[side]} {metric}, %",
            value="mean",
            interval="one standard deviation:",
            dots="folds",
        ),
        name=f"cross-validation-plot-{side}",
        title=f"{_SIDES[side]} {metric} of folds",
        label=_SIDES[side],
    )


def _folds_table(folds: pl.DataFrame, series: Mapping[str, Series], metric: str) -> Table:
    has_seeds = folds["num_seeds"].max() != 1
    has_val = "val" in _known_sides(folds)
    best = (
        "the best validation score, its epoch," if has_val else "the epoch of the best validation"
    )
    return table(
        folds.sort("block", "protocol", "loss", "config", "fold"),
        (
            Column.named("Loss", "loss", series),
            Column.text("Config", "config"),
            *_places(folds),
            Column.count("Fold", "fold"),
            Column.share("Best validation", "val") if has_val else None,
            Column.number("Epoch", "epoch", 1 if has_seeds else 0),
            Column.share("Test", "test"),
        ),
        name="cross-validation-folds",
        caption=f"{metric} of every fold in %: {best} and the test score at that epoch"
        f"{', means over seeds' if has_seeds else ''}{_within(folds)}",
        note="Folds count from 0, as in the columns of trials.",
    )


def _pairs_table(pairs: pl.DataFrame, cells: pl.DataFrame) -> Table:
    return table(
        pairs.sort("block", "protocol", "a", "b"),
        (
            Column.text("Loss a", "a"),
            Column.text("Loss b", "b"),
            *_places(cells),
            Column.signed("a − b", "mean_difference", factor=PERCENT),
            Column.interval("95 % interval", "low", "high", factor=PERCENT),
            Column.p_value("p", "p_holm"),
        ),
        name="cross-validation-pairs",
        caption="Pairs of tuned losses: differences of test scores in points, by the corrected"
        f" resampled t test over the same folds, Holm within the setting{_within(cells)}."
        " Intervals are not adjusted, and the verdict is that of the ranking",
    )
