"""The section on validation protocols: which selects best, at what cost, and how sure that is."""

from collections.abc import Iterator, Mapping

import polars as pl

from analysis.figures.axis import Axis
from analysis.figures.intervals import IntervalAxis, IntervalRow, IntervalWords, intervals_plot
from analysis.figures.scatter import Point, scatter_plot
from analysis.figures.series import Series, series_of
from analysis.page.html_page import (
    Bullets,
    Heading,
    Illustration,
    Paragraph,
    Part,
    Section,
    Table,
)
from analysis.protocols.findings_text import (
    missing_statistics,
    protocol_sentences,
)
from analysis.protocols.protocol_study import ProtocolStudy
from analysis.protocols.protocol_tables import (
    ProtocolTable,
    agreement_table,
    cost_table,
    finals_table,
    intervals_over,
    loss_table,
    optimism_table,
    pair_table,
    pick_table,
    readings_table,
    row_of,
)
from analysis.protocols.selected_configs import protocol_headline
from analysis.report.default_tuned_refit import default_tuned_refit
from analysis.report.protocol_tables import estimate, page_table
from analysis.study_results.study_results import PERCENT, StudyResults


def protocols(results: StudyResults, losses: Mapping[str, Series]) -> Section | None:
    """The section; None before a search trial, or where the study does not vary its protocol."""
    trained_on = results.trials["train_on"].drop_nulls().n_unique()
    varies = len(results.protocols) > 1 or results.study["quarantine"] != "none" or trained_on > 1
    if not varies or (study := results.protocol_study) is None:
        return None
    looks = series_of(study.order)
    series = {label: looks[label] for label in study.order}
    steps = default_tuned_refit(study, losses, protocol=results.protocol.label)
    # Of a single protocol without quarantine, finalists are all there is to compare.
    is_comparison = len(study.protocols) > 1 or study.picks.is_recorded
    return Section(
        name="protocols",
        title="Validation protocols",
        label="Protocols",
        parts=(
            *(_comparison(study, series) if is_comparison else ()),
            *((Heading(text="Default, tuned, refit"), steps) if steps else ()),
            *_shown(series, readings_table(study)),
        ),
    )


def _shown(series: Mapping[str, Series], *tables: ProtocolTable | None) -> tuple[Table, ...]:
    return tuple(page_table(table, series) for table in tables if table is not None)


def _comparison(study: ProtocolStudy, series: Mapping[str, Series]) -> Iterator[Part]:
    yield Paragraph(text=protocol_headline(study), style="lead")
    yield Bullets(items=protocol_sentences(study))
    of_picks = _shown(series, finals_table(study), pick_table(study))
    if of_picks:
        yield scores_of_picks(study, series, of_picks[0])
    yield from (*of_picks[1:], *_shown(series, pair_table(study)))
    for costs in _shown(series, cost_table(study)):
        front = regret_against_cost(study, series, costs)
        yield Heading(text="Regret against cost" if front else "Cost")
        yield front or costs
    agreement = _shown(series, agreement_table(study))
    if agreement:
        yield Heading(text="Rank agreement of validation and test")
        yield from agreement
    for optimism in _shown(series, optimism_table(study)):
        yield Heading(text="Optimism of selected configs")
        yield optimism
    yield from _shown(series, loss_table(study))
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
            estimate=estimate(row_of(frame, measure, protocol=protocol.label)),
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
        regret = estimate(row_of(study.picks.fairest.means, "regret", protocol=label))
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
    unit = "GPU-minutes" if study.design.has_gpus else "Minutes of one slot"
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
