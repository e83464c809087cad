"""Pairwise comparisons: differences of competitors, their intervals and p."""

from collections.abc import Mapping, Sequence

from podium.analysis.figures.critical_difference import critical_difference_plot
from podium.analysis.figures.intervals import IntervalAxis, IntervalRow, intervals_plot
from podium.analysis.figures.series import Series
from podium.analysis.hypothesis_tests.pairwise_comparisons import Pair
from podium.analysis.page.html_page import Illustration, Paragraph, Part, Section
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.study_results.study_results import StudyResults
from podium.analysis.tournament.classic_tests import assumption, nemenyi_diagram
from podium.analysis.tournament.table_tournament import TableResults
from podium.analysis.tournament.tournament import Tournament
from podium.analysis.wording import counted, p_value
from podium.orchestrator.results.records.fairness_record import Fairness

_MOST_PAIRS = 10  # of which all are shown; of more those with the first competitor


def pairwise_comparisons(
    results: StudyResults | TableResults, series: Mapping[str, Series]
) -> Section | None:
    """The section; None without a ranking."""
    if results.tournament is None:
        return None
    fairness = results.fairness if isinstance(results, StudyResults) else None
    return pair_section(results.tournament, series, fairness=fairness)


def pair_section(
    tournament: Tournament, series: Mapping[str, Series], *, fairness: Fairness | None = None
) -> Section:
    """Paired differences with a table of every pair; Nemenyi's diagram if it was asked for.

    Args:
        tournament: the tournament, whose scores are shown in their own unit.
        series: look of each competitor.
        fairness: fairness of the study that was ranked; None for a table of scores.
    """
    parts: list[Part] = [paired_differences(tournament, series, fairness=fairness)]
    if tournament.rules.test == "nemenyi" and len(tournament.blocks) > 1:
        parts.append(_diagram(tournament))
    return Section(name="differences", title="Pairwise comparisons", parts=tuple(parts))


def paired_differences(
    tournament: Tournament, series: Mapping[str, Series], *, fairness: Fairness | None = None
) -> Illustration:
    """Differences with their simultaneous intervals; a declared equivalence region is shaded.

    Few competitors have all pairs shown, many those of the first. The arguments are those of
    `pair_section`.
    """
    rope = tournament.rules.rope_points
    is_every = len(tournament.pairs) <= _MOST_PAIRS
    subject = tournament.rules.against or tournament.names[0]
    pairs = [pair for pair in tournament.pairs if is_every or subject in (pair.a, pair.b)]
    alpha = tournament.rules.alpha
    plot = intervals_plot(
        [
            IntervalRow(
                name=pair.b,
                group="" if pair.a == subject and not is_every else f"{pair.a} minus",
                value=pair.mean_difference,
                low=pair.low,
                high=pair.high,
                series=series[pair.b],
                is_filled=pair.differs(alpha) or not tournament.is_tested,
                columns=(p_value(pair.p),) if tournament.is_tested else (),
                note=_note(tournament, pair),
            )
            for pair in pairs
        ],
        IntervalAxis(
            label="Mean difference, points",
            reference=0,
            region=None if rope is None else (-rope, rope),
            region_label="practically equivalent",
            heads=("p",) if tournament.is_tested else (),
        ),
        name="paired-differences-plot",
        title="Paired differences with their intervals",
    )
    of = "" if is_every else f" of {subject}"
    return Illustration(
        name="paired-differences",
        plots=(plot,),
        caption=f"Paired differences{of}: {_tested(tournament)}{_region(rope)}",
        table=_pair_list(tournament, series, fairness),
    )


def _note(tournament: Tournament, pair: Pair) -> str:
    if not tournament.is_tested:
        return "not tested"
    is_different = pair.differs(tournament.rules.alpha)
    return "significantly different" if is_different else "not shown to differ"


def _tested(tournament: Tournament) -> str:
    """Where intervals and p come from, or why there are none."""
    units, level = tournament.units, 100 * (1 - tournament.rules.alpha)
    if not tournament.is_tested:
        return f"means over settings. {units.why_untested}"
    return (
        f"means over {units.counted}, with simultaneous {level:g} % intervals and p of one exact"
        f" test of {counted(len(tournament.pairs), 'pair')}, by joint flips of their signs; p is"
        " the smallest level whose interval excludes 0. Hollow: not shown to"
        " differ."
    )


def _region(rope: float | None) -> str:
    if rope is None:
        return ""
    return f" Shaded: the declared region of practical equivalence, {rope:g} points either way."


def _diagram(tournament: Tournament) -> Illustration | Paragraph:
    """Nemenyi's critical-difference diagram, or one sentence where it would exceed its axis."""
    length, groups = nemenyi_diagram(tournament)
    last, blocks = len(tournament.names), counted(len(tournament.blocks), "setting")
    if length > last - 1:
        return Paragraph(
            text=f"No critical-difference diagram: with {blocks} Nemenyi's critical difference of"
            f" {length:.2f} exceeds the axis from rank 1 to {last}.",
            style="note",
        )
    return Illustration(
        name="critical-difference",
        plots=(
            critical_difference_plot(
                [(one.competitor, one.average_rank) for one in tournament.standings],
                groups,
                critical_difference=length,
                name="critical-difference-nemenyi",
            ),
        ),
        caption=f"Critical-difference diagram over {blocks}: a bracket joins competitors whose"
        f" average ranks are less than Nemenyi's critical difference, {length:.2f}, apart."
        f" {assumption(tournament)}",
    )


def _pair_list(
    tournament: Tournament, series: Mapping[str, Series], fairness: Fairness | None
) -> Table:
    """Every asked pair once, the better placed first; with ``fairness`` what it does not share."""
    tested: Sequence[Column] = (
        Column.interval(f"{100 * (1 - tournament.rules.alpha):g} % interval", "low", "high"),
        Column.p_value("p", "p", best=lambda pair: pair.differs(tournament.rules.alpha)),
    )
    return table(
        tournament.pairs,
        (
            Column.named("First", "a", series),
            Column.named("Second", "b", series),
            Column.signed("Mean gap, points", "mean_difference"),
            *(tested if tournament.is_tested else ()),
            Column.text(
                "Won/tied/lost",
                lambda pair: f"{pair.wins}/{pair.ties}/{pair.losses}",
                order="wins",
                is_number=True,
            ),
            Column.text("Not equal in", lambda pair: _unequal(pair, fairness))
            if fairness
            else None,
        ),
        name="pairs",
        caption="Every pair; the gap is the first minus the second",
        note="Won, tied and lost are settings."
        + (" In bold: significantly different." if tournament.is_tested else ""),
    )


def _unequal(pair: Pair, fairness: Fairness) -> str | None:
    """What the pair does not share apart from its formulas."""
    names = [
        item.label
        for item in fairness.disparities
        if item.area not in ("loss", "protocol") and item.separates(pair.a, pair.b)
    ]
    return ", ".join(dict.fromkeys(names)) or None
