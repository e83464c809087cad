"""Verification of pairs of test images: accuracy, TAR at FAR, EER, AUC and ROC."""

from collections.abc import Iterable, Mapping

import polars as pl

from analysis.figures.axis import Axis
from analysis.figures.lines import Line, lines_plot, thinned
from analysis.figures.series import Series, coloured
from analysis.page.html_page import Cell, Column, Illustration, Paragraph, Section, Table
from analysis.report.shown_blocks import points_of_line, ranked_losses
from analysis.scores.final_scores import BASELINE
from analysis.study_results.study_results import StudyResults
from analysis.wording import MISSING, counted, in_percent, number

_ACCURACY, _ERROR = "verification_accuracy", "verification_accuracy_se"
_TAR = "tar_at_far"
_EER, _AUC = "eer", "verification_auc"
_DECADE = 10  # K of a TAR counts tenths of a decade of FAR below 1

_NOTE = (
    "Accuracy: at the threshold that is best on all other folds of pairs, as in LFW, with pairs of"
    " one class and of two weighing the same; 50 is chance. TAR: share of pairs of one class"
    " accepted where so many of two are. EER: where as many of these are accepted as of those"
    " rejected; the lowest is the best. AUC: chance that a pair of one class is the more alike."
    f" {MISSING}: a FAR at which fewer than 10 pairs of two classes may be accepted, or too few"
    " classes for folds."
)

_Values = Mapping[tuple[str, int | None], float]


def verification(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None where no tuned loss has such scores."""
    means = _means(results)
    tuned = means.filter(pl.col("loss") != BASELINE)
    if tuned.is_empty():
        return None
    curves = tuned.filter(metric=_TAR)
    return Section(
        name="verification",
        title="Verification of pairs",
        label="Verification",
        parts=(
            Paragraph(
                text="Whether two test images are of one class, judged by the cosine of their"
                " embeddings: tuned losses, mean over seeds and folds, in %. The untrained network"
                " is never marked as the best."
            ),
            _table(means, series),
            *(() if curves.is_empty() else (_figure(curves, results, series),)),
        ),
    )


def _means(results: StudyResults) -> pl.DataFrame:
    """Mean of each score over the runs of a tuned loss or of the untrained network.

    Columns ``block``, ``loss``, ``metric``, ``k``, ``value``, and ``runs``, which counts what the
    mean is of.
    """
    finals = results.finals.filter(pl.col("finalist").is_in(["winner", BASELINE]))
    return (
        results.reader.test_scores()
        .filter(pl.col("metric").is_in([_ACCURACY, _ERROR, _TAR, _EER, _AUC]))
        .select("trial_id", "metric", "k", "value")
        .collect()
        .join(finals.select("trial_id", "block", "loss"), on="trial_id")
        .group_by("block", "loss", "metric", "k")
        .agg(pl.col("value").sort().mean(), pl.len().alias("runs"))
        .sort("block", pl.col("loss") == BASELINE, "loss", "metric", "k")
    )


def _table(means: pl.DataFrame, series: Mapping[str, Series]) -> Table:
    decades = sorted(k for k in _ks(means) if k and k % _DECADE == 0)
    keys = (_ACCURACY, *((_TAR, k) for k in decades), _EER, _AUC)
    columns = tuple(key if isinstance(key, tuple) else (key, None) for key in keys)
    cells = _by_cell(means)
    best = {
        (block, column): _best(values, column)
        for block in means["block"].unique()
        for column in columns
        for values in [[v for (of, loss), v in cells.items() if of == block and loss != BASELINE]]
    }
    runs: list[int] = means.filter(pl.col("loss") != BASELINE)["runs"].to_list()
    return Table(
        name="verification-table",
        caption=f"Verification of pairs in %, {counted(len(cells), 'network')}; the best of each"
        " block is bold. Below the accuracy is its standard error over the folds of pairs. Mean of"
        f" at most {counted(max(runs), 'test')}.",
        columns=(
            *Column.texts("Block", "Loss"),
            *Column.numbers("Accuracy"),
            *Column.numbers(*(f"1e-{k // _DECADE}" for k in decades), group="TAR at FAR"),
            *Column.numbers("EER", "AUC"),
        ),
        rows=tuple(
            (
                Cell.word(block),
                Cell.named(loss, series),
                *(
                    _cell(
                        values,
                        column,
                        is_best=loss != BASELINE and values.get(column) == best[block, column],
                    )
                    for column in columns
                ),
            )
            for (block, loss), values in cells.items()
        ),
        note=_NOTE,
        is_sortable=True,
    )


def _cell(values: _Values, column: tuple[str, int | None], *, is_best: bool) -> Cell:
    error = in_percent(values.get((_ERROR, None))) if column[0] == _ACCURACY else None
    return Cell.number(
        in_percent(values.get(column)),
        detail="" if error is None else f"± {number(error)}",
        is_best=is_best,
    )


def _best(cells: Iterable[_Values], column: tuple[str, int | None]) -> float | None:
    """The best value of a column; NaN, which equals nothing, where there is none."""
    known = [values[column] for values in cells if column in values]
    best = min if column[0] == _EER else max
    return best(known, default=float("nan"))


def _by_cell(means: pl.DataFrame) -> dict[tuple[str, str], _Values]:
    """Values by metric and K of each block and loss, in the order of the rows."""
    return {
        (str(block), str(loss)): {
            (metric, k): value for metric, k, value in part.select("metric", "k", "value").rows()
        }
        for (block, loss), part in means.group_by("block", "loss", maintain_order=True)
    }


def _ks(means: pl.DataFrame) -> list[int]:
    """K of all TARs, ascending: from the highest FAR to the lowest."""
    return means.filter(metric=_TAR)["k"].unique().sort().to_list()


def _far(k: int) -> float:
    return float(10.0 ** (-k / _DECADE))


def _figure(
    curves: pl.DataFrame, results: StudyResults, series: Mapping[str, Series]
) -> Illustration:
    panels = curves.partition_by("block", maintain_order=True)
    decades = range(max(1, -(-max(_ks(curves)) // _DECADE)) + 1)  # at least one is shown
    x = Axis(
        label="False accept rate (FAR)",
        scale="log",
        limits=(_far(_DECADE * decades[-1]), 1.0),
        ticks=tuple(
            (_far(_DECADE * decade), f"1e-{decade}" if decade else "1")
            for decade in reversed(decades)
        ),
    )
    most = points_of_line(curves.select("block", "loss").n_unique())
    plots = [
        lines_plot(
            [
                _roc_line(panel.filter(loss=loss).sort("k", descending=True), most)
                for loss in ranked_losses(results, set(panel["loss"]))
            ],
            x=x,
            y=Axis(label="TAR, %", limits=(0.0, 102.0)),
            name=f"roc-{position}",
            label=str(panel["block"][0]),
            title=f"ROC of {panel['block'][0]}",
            description="Share of pairs of one class that are accepted, by the false accept rate,"
            " one line for each loss.",
        )
        for position, panel in enumerate(panels)
    ]
    return Illustration(
        name="roc",
        plots=tuple(plots),
        caption="ROC of the tuned losses: share of pairs of one class accepted (TAR) by the share"
        " of pairs of two classes accepted (FAR, logarithmic), mean over seeds and folds at each"
        " FAR.",
        # All curves end at the same point, so names there are of no help.
        legend=coloured(series[loss] for loss in sorted(set(curves["loss"]))),
        selector="Block" if len(panels) > 1 else "",
        table=_curve_table(curves, series),
    )


def _roc_line(part: pl.DataFrame, most: int) -> Line:
    shown = part[thinned(part.height, most)]
    return Line(
        name=shown["loss"][0],
        xs=tuple(_far(k) for k in shown["k"]),
        ys=tuple(100 * value for value in shown["value"]),
    )


def _curve_table(curves: pl.DataFrame, series: Mapping[str, Series]) -> Table:
    losses = sorted(set(curves["loss"]))
    wide = curves.pivot("loss", index=["block", "k"], values="value").sort("block", "k")
    return Table(
        name="roc-table",
        caption="TAR in % by FAR",
        columns=(
            *Column.texts("Block"),
            *Column.numbers("FAR"),
            *Column.named(losses, series),
        ),
        rows=tuple(
            (
                Cell.word(row["block"]),
                Cell(text=f"{_far(row['k']):.1e}", order=_far(row["k"])),
                *(Cell.number(in_percent(row[loss])) for loss in losses),
            )
            for row in wide.to_dicts()
        ),
        is_sortable=True,
    )
