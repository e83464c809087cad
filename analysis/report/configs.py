"""Every config of a grid or sweep with its scores, and how they change with a hyperparameter."""

from collections.abc import Mapping, Sequence
from functools import partial

import polars as pl

from podium.analysis.figures.axis import Axis
from podium.analysis.figures.lines import Line, lines_plot
from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Illustration, Paragraph, Part, Section
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.wording import counted
from podium.orchestrator.results.records.metric_columns import (
    flat_test_column,
    known_columns,
    known_test_columns,
    metric_label,
    score_column,
    short_label,
)

_SWEEPS = ("grid", "coordinate")  # besides samplers whose searches share their configs
_MOST = 500  # configs of a table
_FAR = 20.0  # values whose ends differ by such a factor are drawn on a logarithmic axis


def configs(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None where searches drew configs of their own."""
    search = results.study["search"]
    if search["sampler"] not in _SWEEPS and not search["shared_configs"]:
        return None
    trials = _with_test_scores(results)
    parts: list[Part] = []
    for position, loss in enumerate(results.losses):
        of_loss = trials.filter(pl.col("loss") == loss)
        of_loss = of_loss.select(it.name for it in of_loss if it.count())
        searched = [
            it.name for it in of_loss if it.name[:3] == "hp." and it.drop_nulls().n_unique() > 1
        ]
        scores = _scores(of_loss.columns)
        if searched and scores and of_loss.select(searched).n_unique() <= _MOST:
            of_config = (pl.col(*scores).mean(), pl.len(), pl.col("is_default").any())
            means = of_loss.group_by(searched).agg(of_config).sort(searched)
            name = f"configs-{position}"
            parts.append(_table(name, loss, means, scores))
            if len(searched) == 1 and means[searched[0]].dtype.is_numeric():
                parts.append(_figure(name, loss, means, scores))
    if not parts:
        return None
    text = (
        "Every config that was tried, mean over settings, folds and repeats. None is picked here."
    )
    return Section(name="configs", title="Configs", parts=(Paragraph(text=text), *parts))


def _with_test_scores(results: StudyResults) -> pl.DataFrame:
    """Complete trials of searches, with the scores on test that they have in quarantine."""
    trials = results.search_trials.filter(pl.col("state") == "COMPLETE")
    trials = trials.drop(known_test_columns(trials.columns))
    scores = (
        results.reader.test_scores()
        .filter(pl.col("stage") == "search")
        .group_by("trial_id", "metric", "k")
        .agg(pl.col("value").mean())
        .sort("k", "metric", nulls_last=True)
        .collect()
    )
    for (metric, k), part in scores.group_by("metric", "k", maintain_order=True):
        named = part.select("trial_id", pl.col("value").alias(flat_test_column(metric, k)))
        trials = trials.join(named, on="trial_id", how="left")
    return trials


def _scores(columns: Sequence[str]) -> dict[str, tuple[str, int, str]]:
    """Column of a score -> its metric, its K (0 without) and the classes that it is of."""
    metrics, ks = known_columns(columns)
    names = ((score_column(metric, k), metric, k) for metric in metrics for k in ks)
    of_validation = {name: (metric, k, "validation") for name, metric, k in names}
    of_test = {
        name: (metric, k or 0, "test") for name, (metric, k) in known_test_columns(columns).items()
    }
    return {**of_validation, **of_test}


def _table(
    name: str, loss: str, means: pl.DataFrame, scores: Mapping[str, tuple[str, int, str]]
) -> Table:
    columns = (
        *(
            Column.text(it.removeprefix("hp."), partial(_value, it), order=it, is_number=True)
            for it in means.columns
            if it.startswith("hp.")
        ),
        *(
            Column.number(short_label(metric, k), it, factor=_factor(metric), group=classes)
            for it, (metric, k, classes) in scores.items()
        ),
        Column.count("Trials", "len"),
        Column.text("Config", lambda row: "published default" if row["is_default"] else ""),
    )
    configs_of = f"{counted(means.height, 'config')} of {loss}"
    caption = f"{configs_of}; scores in percent, label distances as they are."
    return table(means, columns, name=name, caption=caption)


def _factor(metric: str) -> int:
    return 1 if metric == "mean_label_distance" else PERCENT


def _value(name: str, row: Mapping[str, float | str | None]) -> str | None:
    value = row[name]
    return f"{value:.4g}" if isinstance(value, float) else None if value is None else str(value)


def _figure(
    name: str, loss: str, means: pl.DataFrame, scores: Mapping[str, tuple[str, int, str]]
) -> Illustration:
    """A plot a score over the one hyperparameter."""
    rows = means.drop_nulls(means.columns[0])
    by, xs = means.columns[0].removeprefix("hp."), rows.to_series(0).cast(pl.Float64).to_list()
    is_log = xs[0] > 0 and xs[-1] >= _FAR * xs[0]
    labels = {it: f"{metric_label(metric, k)}, {on}" for it, (metric, k, on) in scores.items()}
    return Illustration(
        name=f"{name}-by",
        plots=tuple(
            lines_plot(
                [Line(name=loss, xs=xs, ys=(_factor(scores[score][0]) * rows[score]).to_list())],
                (
                    Axis(label=by, scale="log" if is_log else "linear"),
                    Axis(label=f"{label}, %" if _factor(scores[score][0]) > 1 else label),
                ),
                name=f"{name}-by-{position}",
                title=f"{label}, of {loss} by {by}",
                label=label,
                style="points",
            )
            for position, (score, label) in enumerate(labels.items())
        ),
        selector="Score",
        caption=f"{loss} by {by}, mean over settings, folds and repeats.",
    )
