"""Verification of pairs of test images: accuracy, TAR at FAR, EER, AUC and ROC."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from podium.analysis.figures.axis import Axis
from podium.analysis.figures.lines import Line, lines_plot, thinned
from podium.analysis.figures.series import Series, coloured
from podium.analysis.page.html_page import Illustration, Paragraph, Section
from podium.analysis.page.tables import PERCENT, Column, Table, table
from podium.analysis.report.shown_blocks import points_of_line, ranked_losses
from podium.analysis.scores.final_scores import BASELINES, IS_BASELINE
from podium.analysis.study_results.study_results import StudyResults
from podium.analysis.wording import MISSING, counted, in_percent, number

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


def verification(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None where no tuned loss has such scores."""
    means = _means(results)
    tuned = means.filter(~IS_BASELINE)
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
                " embeddings: tuned losses, mean over seeds and folds, in %. Baselines"
                " are never marked as the best."
            ),
            _table(means, series),
            *(() if curves.is_empty() else (_figure(curves, results, series),)),
        ),
    )


def _means(results: StudyResults) -> pl.DataFrame:
    """Mean of each score over the runs of a tuned loss or of a baseline.

    Columns ``block``, ``loss``, ``metric``, ``k``, ``value``, and ``runs``, which counts what the
    mean is of.
    """
    finals = results.finals.filter(pl.col("finalist").is_in(["winner", *BASELINES]))
    return (
        results.reader.test_scores()
        .filter(pl.col("metric").is_in([_ACCURACY, _ERROR, _TAR, _EER, _AUC]))
        .select("trial_id", "metric", "k", "value")
        .collect()
        .join(finals.select("trial_id", "block", "loss"), on="trial_id")
        .group_by("block", "loss", "metric", "k")
        .agg(pl.col("value").sort().mean(), pl.len().alias("runs"))
        .sort("block", IS_BASELINE, "loss", "metric", "k")
    )


def _table(means: pl.DataFrame, series: Mapping[str, Series]) -> Table:
    decades = sorted(k for k in set(means.filter(metric=_TAR)["k"]) if k and k % _DECADE == 0)
    best = {
        (block, metric, k): least if metric == _EER else most
        for block, metric, k, least, most in means.filter(~IS_BASELINE)
        .group_by("block", "metric", "k")
        .agg(pl.col("value").min().alias("least"), pl.col("value").max().alias("most"))
        .iter_rows()
    }
    networks = [
        {
            "block": str(block),
            "loss": str(loss),
            **{(metric, k): value for metric, k, value in part[:, 2:5].rows()},
        }
        for (block, loss), part in means.group_by("block", "loss", maintain_order=True)
    ]

    def column(label: str, metric: str, k: int | None = None, group: str = "") -> Column:
        def is_best(row: Mapping[Any, Any]) -> bool:
            value = row.get((metric, k))
            is_known = row["loss"] not in BASELINES and value is not None
            return is_known and value == best[row["block"], metric, k]

        def error(row: Mapping[Any, Any]) -> str:
            found = in_percent(row.get((_ERROR, None)))
            return "" if found is None or metric != _ACCURACY else f"± {number(found)}"

        return Column.number(
            label,
            lambda row: row.get((metric, k)),
            factor=PERCENT,
            below=error,
            best=is_best,
            group=group,
        )

    return table(
        networks,
        (
            Column.text("Block", "block"),
            Column.named("Loss", "loss", series),
            column("Accuracy", _ACCURACY),
            *(column(f"1e-{k // _DECADE}", _TAR, k, "TAR at FAR") for k in decades),
            column("EER", _EER),
            column("AUC", _AUC),
        ),
        name="verification-table",
        caption=f"Verification of pairs in %, {counted(len(networks), 'network')}; the best of"
        " each block is bold. Below the accuracy is its standard error over the folds of pairs."
        f" Mean of at most {counted(max(means.filter(~IS_BASELINE)['runs'].to_list()), 'test')}.",
        note=_NOTE,
    )


def _far(k: int) -> float:
    return float(10.0 ** (-k / _DECADE))


def _figure(
    curves: pl.DataFrame, results: StudyResults, series: Mapping[str, Series]
) -> Illustration:
    panels = curves.partition_by("block", maintain_order=True)
    decades = range(max(1, -(-max(curves["k"].to_list()) // _DECADE)) + 1)  # at least one is shown
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
    return table(
        curves.pivot("loss", index=["block", "k"], values="value").sort("block", "k"),
        (
            Column.text("Block", "block"),
            Column.number("FAR", lambda row: _far(row["k"]), write=lambda far, _: f"{far:.1e}"),
            *(Column.share(loss, loss, series=series[loss]) for loss in losses),
        ),
        name="roc-table",
        caption="TAR in % by FAR",
    )
