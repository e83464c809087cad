"""Hyperparameter importance above noise, tunability, and where the best configs lie."""

from collections.abc import Mapping

from analysis.estimates.confidence_intervals import FEWEST_VALUES
from analysis.figures.estimate import Estimate
from analysis.figures.importance_bars import ImportanceBar, draw_importances
from analysis.figures.series import Series
from analysis.figures.tunability_curves import draw_tunability
from analysis.hyperparameters.findings_text import (
    bound_warnings,
    caveats,
    compared_by,
    importance_headline,
    importance_verdict,
    loss_sentences,
)
from analysis.hyperparameters.tunability import Tunability, tunability_of
from analysis.hyperparameters.tuned_hyperparameters import (
    TunedHyperparameters,
    tuned_hyperparameters,
)
from analysis.page.html_page import (
    Bullets,
    Cell,
    Column,
    Fold,
    Illustration,
    Paragraph,
    Part,
    Section,
    Table,
)
from analysis.report.hyperparameters_of_loss import loss_parts
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.wording import counted, in_percent, percent, range_of
from orchestrator.results.records.metric_columns import RankedScore

_WITHIN = (0.5, 1.0, 2.0, 5.0)


def hyperparameters(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None before a search has varied anything."""
    tuned = tuned_hyperparameters(
        results.search_trials, results.reader, study=results.study, score=results.ranked_by
    )
    if tuned is None:
        return None
    warnings = tuple(Paragraph(text=text, style="notice") for text in bound_warnings(tuned))
    parts: list[Part] = [
        Paragraph(text=importance_headline(tuned), style="lead"),
        *(Paragraph(text=text) for text in _compared_by(tuned, results.ranked_by)),
        Bullets(items=tuple(loss_sentences(tuned))),
        *warnings,
    ]
    if tuned.importances["importance"].is_not_null().any():
        parts.append(_importance(tuned, series))
    if tunabilities := tunability_of(tuned.searches, _WITHIN):
        parts.append(_tunability(tunabilities, tuned, series))
    parts += [Paragraph(text=text, style="note") for text in caveats(tuned)]
    parts += [
        Fold(
            summary=f"{loss}: score along its hyperparameters, configs, best region",
            parts=loss_parts(tuned, loss, series[loss], position=position),
        )
        for position, loss in enumerate(tuned.pooled)
    ]
    return Section(
        name="hyperparameters",
        title="Hyperparameter importance",
        label="Hyperparameters",
        parts=tuple(parts),
    )


def _compared_by(tuned: TunedHyperparameters, asked: RankedScore) -> list[str]:
    """By which score configs are compared, where it is not what was asked for or maximised."""
    if tuned.score == asked:
        return compared_by(tuned)
    return [
        f"Configs are compared by {tuned.score.label} on validation: no trial of these searches"
        f" was tested by {asked.label} (quarantine: record_all has them tested, unread)."
    ]


def _importance(tuned: TunedHyperparameters, series: Mapping[str, Series]) -> Illustration:
    rows = tuned.importances.drop_nulls("importance")
    plots = []
    reach = 1.04 * max(max(row["high"], row["noise"]) for row in rows.to_dicts())
    for position, part in enumerate(rows.partition_by("loss", maintain_order=True)):
        bars = [
            ImportanceBar(
                hyperparameter=row["hyperparameter"],
                estimate=Estimate(value=row["importance"], low=row["low"], high=row["high"]),
                noise=row["noise"],
                is_above_noise=row["is_above_noise"],
            )
            for row in part.to_dicts()
        ]
        plots.append(
            draw_importances(
                bars,
                reach=reach,
                series=series[part["loss"][0]],
                axis="share of variance (PED-ANOVA)",
                name=f"importance-{position}",
            )
        )
    return Illustration(
        name="importance",
        plots=tuple(plots),
        caption="What each hyperparameter alone explains of whether a config is among the best"
        f" tenth of its search on {tuned.role}, mean over {_blocks(tuned)}. Dashed: 95th"
        " percentile for shuffled scores; bars that do not exceed it are hollow and are not above"
        " noise."
        f" Lines are 95 % intervals: {_interval_text(tuned)}."
        f" {counted(tuned.total('num_configs'), 'config')};"
        f" {tuned.total('num_pruned')} pruned and {tuned.total('num_failed')} failed left out.",
        table=_importance_table(tuned, series),
    )


def _blocks(tuned: TunedHyperparameters) -> str:
    return counted(len({item.block for item in tuned.searches}), "block")


def _interval_text(tuned: TunedHyperparameters) -> str:
    if "blocks" in tuned.importances["interval"].to_list():
        return "Student's t over blocks, or that of subsamples of configs where it is wider"
    return "from subsamples of the configs, so they hold for other configs in the same blocks"


def _importance_table(tuned: TunedHyperparameters, series: Mapping[str, Series]) -> Table:
    on_test = [] if tuned.on_test is None else tuned.on_test.to_dicts()
    of_test = {(row["loss"], row["hyperparameter"]): row for row in on_test}
    lines = []
    for row in tuned.importances.to_dicts():
        cells = [
            Cell.named(row["loss"], series),
            Cell.word(row["hyperparameter"]),
            Cell.share(row["importance"], 1),
            Cell(text=range_of(in_percent(row["low"]), in_percent(row["high"]), 1)),
            Cell.share(row["noise"], 1),
            Cell.p_value(row["p_value"]),
            Cell(text=importance_verdict(row)),
            Cell.share(row["share"], 1),
        ]
        if of_test:
            found = of_test[row["loss"], row["hyperparameter"]]
            cells += [Cell.share(found[name], 1) for name in ("importance", "noise")]
            cells.append(Cell(text=importance_verdict(found)))
        cells.append(Cell.count(row["num_configs"]))
        lines.append(tuple(cells))
    labels: tuple[str, ...] = (
        "Importance, %",
        "95 % interval",
        "Noise, %",
        "p",
        "Verdict",
        "Share, %",
    )
    labels += ("On test, %", "Noise on test, %", "Verdict on test") if of_test else ()
    return Table(
        name="importance-table",
        caption=f"Importance of hyperparameters in %, mean over {_blocks(tuned)}",
        columns=(
            *Column.texts("Loss", "Hyperparameter"),
            *(
                Column(label=label, is_number=not label.startswith("Verdict"))
                for label in (*labels, "Configs")
            ),
        ),
        rows=tuple(lines),
        note="Share is of the sum over the hyperparameters of the loss: it sums to 100 % whatever"
        " the noise, so read it only where the verdict is above noise. p is one-sided, from"
        f" {tuned.settings.permutations} permutations of the scores within each search, and not"
        " corrected for how many hyperparameters there are.",
        is_sortable=True,
    )


def _tunability(
    tunabilities: tuple[Tunability, ...],
    tuned: TunedHyperparameters,
    series: Mapping[str, Series],
) -> Illustration:
    curves = {
        item.loss: (item.distances.tolist(), (PERCENT * item.shares).tolist())
        for item in tunabilities
    }
    lines = []
    for item in tunabilities:
        within = [
            Cell.percent(
                interval.estimate,
                detail="" if interval.low is None else _clipped(interval.low, interval.high),
            )
            for interval in item.within
        ]
        counts = map(Cell.count, (item.num_trials, item.num_pruned, item.num_failed))
        lines.append((Cell.named(item.loss, series), *within, *counts))
    blocks = counted(max(item.num_blocks for item in tunabilities), "block")
    within_labels = [f"Within {distance:g}" for distance in _WITHIN]
    return Illustration(
        name="ease",
        plots=(draw_tunability(curves, series=series, name="ease-plot"),),
        caption=f"Tunability of each loss: share of its configs within so many points"
        f" {tuned.score.label} of the best of their search, on {tuned.role}, mean over {blocks}."
        " Pruned and failed configs count as never close.",
        legend=tuple(series[item.loss] for item in tunabilities),
        table=Table(
            name="ease-table",
            caption=f"Configs within so many points of the best of their search, mean over"
            f" {blocks}; 95 % t intervals over blocks, from {FEWEST_VALUES} on",
            columns=(
                *Column.texts("Loss"),
                *Column.numbers(*within_labels, "Configs", "Pruned", "Failed"),
            ),
            rows=tuple(lines),
            is_sortable=True,
        ),
    )


def _clipped(low: float, high: float | None) -> str:
    assert high is not None
    return f"{percent(max(0.0, low))} to {percent(min(1.0, high))}"
