"""The section on validation protocols: which selects best, at what cost, and how sure that is."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from podium.analysis.figures.axis import Axis
from podium.analysis.figures.estimate import Estimate
from podium.analysis.figures.intervals import (
    IntervalAxis,
    IntervalRow,
    IntervalWords,
    intervals_plot,
)
from podium.analysis.figures.scatter import Point, scatter_plot
from podium.analysis.figures.series import Series, series_of
from podium.analysis.page.html_page import Bullets, Heading, Illustration, Paragraph, Part, Section
from podium.analysis.page.tables import Cell, Column, Table, table
from podium.analysis.protocols.findings_text import (
    missing_statistics,
    protocol_sentences,
)
from podium.analysis.protocols.protocol_study import ProtocolStudy
from podium.analysis.protocols.protocol_tables import (
    agreement_table,
    cost_table,
    finals_table,
    intervals_over,
    loss_table,
    mean_cell,
    optimism_table,
    pair_table,
    pick_table,
    readings_table,
    row_of,
)
from podium.analysis.protocols.selected_configs import protocol_headline
from podium.analysis.study_results.study_results import PERCENT, StudyResults

_FINALISTS = {
    "default_part": "default",
    "tuned_part": "tuned",
    "tuned_all": "tuned, all classes",
}
_GAPS = {"tuning": "Tuning", "classes": "All classes", "both": "Both"}
_ALL = "all losses"


def protocols(results: StudyResults, losses: Mapping[str, Series]) -> Section | None:
    """The section; None before a search trial, or where the study does not vary its protocol."""
    trained_on = results.trials["train_on"].drop_nulls().n_unique()
    varies = len(results.protocols) > 1 or results.study["quarantine"] != "none" or trained_on > 1
    if not varies or (study := results.protocol_study) is None:
        return None
    looks = series_of(study.order)
    series = {label: looks[label] for label in study.order}
    steps = _default_tuned_refit(study, losses, protocol=results.protocol.label)
    # Of a single protocol without quarantine, finalists are all there is to compare.
    is_comparison = len(study.protocols) > 1 or study.picks.is_recorded
    return Section(
        name="protocols",
        title="Validation protocols",
        label="Protocols",
        parts=(
            *(_comparison(study, series) if is_comparison else ()),
            *((Heading(text="Default, tuned, refit"), steps) if steps else ()),
            *filter(None, (readings_table(study),)),
        ),
    )


def _comparison(study: ProtocolStudy, series: Mapping[str, Series]) -> Iterator[Part]:
    yield Paragraph(text=protocol_headline(study), style="lead")
    yield Bullets(items=protocol_sentences(study))
    if finals := finals_table(study):
        yield scores_of_picks(study, series, finals)
    yield from filter(None, (pick_table(study), pair_table(study)))
    if costs := cost_table(study):
        front = regret_against_cost(study, series, costs)
        yield Heading(text="Regret against cost" if front else "Cost")
        yield front or costs
    if agreement := agreement_table(study):
        yield Heading(text="Rank agreement of validation and test")
        yield agreement
    if optimism := optimism_table(study):
        yield Heading(text="Optimism of selected configs")
        yield optimism
    yield from filter(None, (loss_table(study),))
    if missing := missing_statistics(study):
        yield Heading(text="Not estimated")
        yield Bullets(items=missing)


def scores_of_picks(
    study: ProtocolStudy, series: Mapping[str, Series], table: Table
) -> Illustration:
    """The figure of the test scores of what each protocol picked.

    Args:
        study: statistics of the protocols.
        series: label of each protocol -> its look.
        table: numbers of the figure.
    """
    frames = {
        "default": (study.finals.means, "default_part"),
        "tuned": (study.finals.means, "tuned_part"),
        "tuned, all classes": (study.finals.means, "tuned_all"),
    }
    if study.picks.fairest:
        frames["pick, other runs"] = (study.picks.fairest.means, "picked_test")
    known = {
        name: (frame, measure)
        for name, (frame, measure) in frames.items()
        if frame.filter(pl.col("measure") == measure)["mean"].count()
    }
    rows = [
        IntervalRow(
            name=name,
            group=protocol.shown,
            estimate=_estimate(row_of(frame, measure, protocol=protocol.label)),
            series=series[protocol.label],
            is_filled=name != "default",
        )
        for protocol in study.protocols
        for name, (frame, measure) in known.items()
    ]
    plot = intervals_plot(
        rows,
        IntervalAxis(label=f"{study.metric} on test, %"),
        IntervalWords(value=f"mean {study.metric} on test, %"),
        name="protocol-picks-plot",
        title="Test scores of the configs that each protocol selected",
        description="For each protocol the published default, the tuned config, the tuned config"
        " trained on all classes, and its score by other runs of the same config. The numbers are"
        " in the table.",
    )
    return Illustration(
        name="protocol-picks",
        plots=(plot,),
        caption="Test scores of the configs that each protocol selected. Default (hollow) and"
        " tuned are trained on"
        " what the protocol leaves for training, so their levels also show how many classes that"
        " is; trained on all classes, or put on one scale, picks are compared on equal terms."
        f" Protocols that leak are marked{intervals_over(study.finals.means, study.finals.unit)}.",
        table=table,
    )


def regret_against_cost(
    study: ProtocolStudy, series: Mapping[str, Series], table: Table
) -> Illustration | None:
    """The figure of regret against the cost of a search; None where no protocol has both.

    Args:
        study: statistics of the protocols.
        series: label of each protocol -> its look.
        table: numbers of the figure.
    """
    if study.picks.fairest is None:
        return None
    points: list[Point] = []
    front: list[tuple[float, float]] = []
    for row in study.in_order(study.costs.by_protocol):
        label = row["protocol"]
        if row["regret"] is None or not row["hours_per_search"]:
            continue
        regret = _estimate(row_of(study.picks.fairest.means, "regret", protocol=label))
        points.append(
            Point(
                name=study.shown[label],
                label=study.shown[label],
                x=60 * row["hours_per_search"],
                y=PERCENT * row["regret"],
                low=regret.low if regret else None,
                high=regret.high if regret else None,
                is_hollow=row["on_front"] is None,
            )
        )
        if row["on_front"]:
            front.append((points[-1].x, points[-1].y))
    if not points:
        return None
    unit = "GPU-minutes" if study.has_gpus else "Minutes of one slot"
    plot = scatter_plot(
        points,
        x=Axis.of_costs(f"{unit} a search", [point.x for point in points]),
        y=Axis(label="Selection regret on test, points"),
        name="protocol-front-plot",
        title="Regret against cost",
        description="One point for each protocol: the cost of a search against the regret of its"
        " pick on test. A dashed staircase joins the protocols that none beats in both. Hollow"
        " points leak.",
        interval="interval",
        front=sorted(front),
        looks={study.shown[label]: look for label, look in series.items()},
    )
    return Illustration(
        name="protocol-front",
        plots=(plot,),
        caption="Selection regret on test against the cost of one search. The staircase joins the"
        " protocols that no other beats in both; hollow ones leak and are not on the front. Where"
        " intervals overlap, the front may differ in another study.",
        table=table,
    )


def _default_tuned_refit(
    study: ProtocolStudy, losses: Mapping[str, Series], *, protocol: str
) -> Illustration | None:
    """Published default, tuned, refit on all classes: the gain of each step on test.

    The figure is of one protocol, the table of all; None without finals on all classes.
    """
    if row_of(study.finals.means, "classes", protocol=protocol) is None:
        return None
    mine = study.finals.by_loss.filter(pl.col("protocol") == protocol)
    rows = [
        row
        for loss in sorted(set(mine["loss"]))
        for row in _refit_rows(mine, loss, losses[loss], loss=loss)
    ]
    if mine["loss"].n_unique() > 1:
        ink = Series(name=_ALL, position=None)
        rows += _refit_rows(study.finals.means, _ALL, ink, protocol=protocol)
    intervals = intervals_over(study.finals.means, study.finals.unit)
    plot = intervals_plot(
        rows,
        IntervalAxis(label=f"{study.metric} on test, %"),
        IntervalWords(value=f"mean {study.metric} on test, %"),
        name="ladder-plot",
        title="From the published default to tuned to all training classes",
        description="Three lines for each loss: the published default, the tuned config, both"
        " trained on a part of the training classes, and the tuned config trained on all of them."
        " The numbers are in the table.",
    )
    return Illustration(
        name="ladder",
        plots=(plot,),
        caption=f"Finalists under {study.shown[protocol]}: published default (hollow), tuned, and"
        " tuned refit on all training classes for as many epochs as the search selected;"
        f" test, mean over blocks and fresh seeds{intervals}. Gaps are paired"
        " by seed: see the table.",
        table=_refit_table(study, losses),
    )


def _refit_rows(
    means: pl.DataFrame, name: str, series: Series, **keys: str
) -> tuple[IntervalRow, ...]:
    return tuple(
        IntervalRow(
            name=label,
            group=name,
            series=series,
            estimate=_estimate(row_of(means, finalist, **keys)),
            is_filled=finalist != "default_part",
        )
        for finalist, label in _FINALISTS.items()
    )


def _refit_table(study: ProtocolStudy, losses: Mapping[str, Series]) -> Table:
    means = study.finals.means
    rows: list[dict[str, Any]] = []
    for label in study.order:
        mine = study.finals.by_loss.filter(pl.col("protocol") == label)
        named = sorted(set(mine["loss"]))
        of_losses = {loss: mine.filter(pl.col("loss") == loss) for loss in named}
        if len(named) > 1:
            of_losses[_ALL] = means
        rows += [
            {"protocol": label, "loss": loss, "means": frame} for loss, frame in of_losses.items()
        ]

    def column(label: str, measure: str) -> Column:
        def cell(row: Mapping[str, Any]) -> Cell:
            found = row_of(row["means"], measure, protocol=row["protocol"])
            return mean_cell(found, is_gain=measure in _GAPS)

        return Column(label=label, cell=cell)

    labels = ("Default", "Tuned", "Tuned, all classes", *_GAPS.values())
    return table(
        rows,
        (
            Column.text(
                "Protocol",
                lambda row: study.shown[row["protocol"]],
                order=lambda row: study.order.index(row["protocol"]),
            ),
            Column.named("Loss", "loss", losses),
            *map(column, labels, (*_FINALISTS, *_GAPS)),
        ),
        name="ladder-table",
        caption=f"{study.metric} on test in %, gaps in points"
        f"{intervals_over(means, study.finals.unit)}",
        note="Tuning: tuned minus default, both on a part of the classes. All classes: the tuned"
        " config on all of them minus itself on the part; the epochs come from the search.",
    )


def _estimate(row: Mapping[str, Any] | None) -> Estimate | None:
    """A mean and its interval in percent, from a row of ``group_means``."""
    if row is None:
        return None
    return Estimate.of_shares(row["mean"], row["low"], row["high"])
