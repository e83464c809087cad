"""The section on validation protocols: which selects best, at what cost, and how sure that is."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from podium.analysis.figures.axis import Axis
from podium.analysis.figures.intervals import IntervalAxis, IntervalRow, intervals_plot
from podium.analysis.figures.scatter import Point, scatter_plot
from podium.analysis.figures.series import Series, series_of
from podium.analysis.page.html_page import Bullets, Heading, Illustration, Paragraph, Part, Section
from podium.analysis.page.tables import Table
from podium.analysis.protocols.findings_text import (
    missing_statistics,
    protocol_sentences,
)
from podium.analysis.protocols.protocol_study import ProtocolStudy
from podium.analysis.protocols.protocol_tables import (
    intervals_over,
    protocol_tables,
    row_of,
)
from podium.analysis.protocols.selected_configs import protocol_headline
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.wording import in_percent

_FINALISTS = {
    "default": "default_part",
    "tuned": "tuned_part",
    "tuned, all classes": "tuned_all",
}


def protocols(results: StudyResults, losses: Mapping[str, Series]) -> Section | None:
    """The section; None before a search trial, or where the study does not vary its protocol."""
    del losses  # its figures are of protocols
    trained_on = results.trials["train_on"].drop_nulls().n_unique()
    varies = len(results.protocols) > 1 or results.study["quarantine"] != "none" or trained_on > 1
    if not varies or (study := results.protocol_study) is None:
        return None
    # Of a single protocol without quarantine, finalists are all there is to compare.
    is_comparison = len(study.protocols) > 1 or study.picks.is_recorded
    return Section(
        name="protocols",
        title="Validation protocols",
        parts=tuple(_comparison(study) if is_comparison else protocol_tables(study)),
    )


def _comparison(study: ProtocolStudy) -> Iterator[Part]:
    yield Paragraph(text=protocol_headline(study), style="lead")
    yield Bullets(items=protocol_sentences(study))
    yield from (figure_of(study, table) or table for table in protocol_tables(study))
    if missing := missing_statistics(study):
        yield Heading(text="Not estimated")
        yield Bullets(items=missing)


def figure_of(study: ProtocolStudy, table: Table) -> Illustration | None:
    """The figure that draws a table of `protocol_tables`; None where there is none."""
    made = _FIGURES.get(table.name)
    return made(study, table) if made else None


def _scores_of_picks(study: ProtocolStudy, table: Table) -> Illustration:
    """The test scores of what each protocol picked."""
    frames = {name: (study.finals.means, measure) for name, measure in _FINALISTS.items()}
    if study.picks.fairest:
        frames["pick, other runs"] = (study.picks.fairest.means, "picked_test")
    found = [
        (name, protocol, row_of(frame, measure, protocol=protocol.label))
        for protocol in study.protocols
        for name, (frame, measure) in frames.items()
    ]
    known = {name for name, _, row in found if row}
    looks = series_of(study.order)
    plot = intervals_plot(
        [
            IntervalRow(
                name=name,
                group=protocol.shown,
                value=value,
                low=low,
                high=high,
                series=looks[protocol.label],
                is_filled=name != "default",
            )
            for name, protocol, row in found
            if name in known
            for value, low, high in (_in_percent(row),)
        ],
        IntervalAxis(label=f"{study.metric} on test, %"),
        name="protocol-picks-plot",
        title="Test scores of the configs that each protocol selected",
    )
    return Illustration(
        name="protocol-picks",
        plots=(plot,),
        caption="Test scores of the configs that each protocol selected. Default (hollow) and"
        " tuned are trained on what the protocol leaves for training, so their levels also show"
        " how many classes that is; trained on all classes, or put on one scale, picks are"
        " compared on equal terms. Protocols that leak are"
        f" marked{intervals_over(study.finals.means, study.finals.unit)}.",
        table=table,
    )


def _regret_against_cost(study: ProtocolStudy, table: Table) -> Illustration | None:
    """Regret against the cost of a search; None where no protocol has both."""
    if study.picks.fairest is None:
        return None
    rows = [
        (row, _in_percent(row_of(study.picks.fairest.means, "regret", protocol=row["protocol"])))
        for row in study.in_order(study.costs)
        if row["regret"] is not None and row["hours_per_search"]
    ]
    if not rows:
        return None
    points = [
        Point(
            name=study.shown[row["protocol"]],
            label=study.shown[row["protocol"]],
            x=60 * row["hours_per_search"],
            y=PERCENT * row["regret"],
            low=low,
            high=high,
            is_hollow=row["on_front"] is None,
        )
        for row, (_, low, high) in rows
    ]
    on_front = [row["on_front"] for row, _ in rows]
    unit = "GPU-minutes" if study.has_gpus else "Minutes of training"
    looks = series_of(study.order)
    plot = scatter_plot(
        points,
        (
            Axis.of_costs(f"{unit} a search", [point.x for point in points]),
            Axis(label="Selection regret on test, points"),
        ),
        name="protocol-front-plot",
        title="Regret against cost",
        front=sorted((point.x, point.y) for point in itertools.compress(points, on_front)),
        looks={study.shown[label]: looks[label] for label in study.order},
    )
    return Illustration(
        name="protocol-front",
        plots=(plot,),
        caption="Selection regret on test against the cost of one search. The staircase joins the"
        " protocols that no other beats in both; hollow ones leak and are not on the front. Where"
        " intervals overlap, the front may differ in another study.",
        table=table,
    )


def _in_percent(row: Mapping[str, Any] | None) -> tuple[float | None, ...]:
    """A mean and both ends of its interval in percent, from a row of ``group_means``."""
    ends = ("mean", "low", "high")
    return tuple(in_percent(None if row is None else row[name]) for name in ends)


_FIGURES: Mapping[str, Callable[[ProtocolStudy, Table], Illustration | None]] = {
    "protocol-finals": _scores_of_picks,
    "protocol-costs": _regret_against_cost,
}
