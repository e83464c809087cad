"""Pairwise comparisons: which pairs of competitors differ significantly."""

from collections.abc import Mapping, Sequence

from podium.analysis.estimates.confidence_intervals import (
    FEWEST_VALUES,
    Interval,
    grouped_interval,
    t_interval,
)
from podium.analysis.figures.critical_difference import critical_difference_plot
from podium.analysis.figures.estimate import Estimate
from podium.analysis.figures.intervals import (
    IntervalAxis,
    IntervalRow,
    IntervalWords,
    intervals_plot,
)
from podium.analysis.figures.series import Series
from podium.analysis.hypothesis_tests.pairwise_comparisons import Pair
from podium.analysis.page.html_page import Illustration, Paragraph, Part, Section, SideBySide
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.study_results.study_results import StudyResults
from podium.analysis.tournament.primary_test_text import METHODS
from podium.analysis.tournament.table_tournament import TableResults
from podium.analysis.tournament.tournament import Tournament
from podium.analysis.tournament.verdict_text import smallest_p_sentence
from podium.analysis.wording import counted, listed, p_value
from podium.orchestrator.results.records.fairness_record import Fairness
from podium.orchestrator.results.records.tournament_rules import TEST_LABELS, PrimaryTest, rules_of

_MOST_NARROW = 12  # competitors whose figures fit into a half of the page
_MOST_PAIRS = 10  # of which all are shown; of more those with the first competitor

Groups = tuple[tuple[str, ...], ...]


def pairwise_comparisons(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a study; None without a ranking."""
    if results.tournament is None:
        return None
    rope = rules_of(results.study).rope_points
    return pair_section(results.tournament, series, rope=rope, fairness=results.fairness)


def table_pairwise_comparisons(results: TableResults, series: Mapping[str, Series]) -> Section:
    """The critical-difference diagram and all pairs."""
    return pair_section(results.tournament, series)


def pair_section(
    tournament: Tournament,
    series: Mapping[str, Series],
    *,
    rope: float | None = None,
    fairness: Fairness | None = None,
) -> Section:
    """Paired differences with a table of every pair, and the critical-difference diagram.

    Args:
        tournament: the tournament, whose scores are shown in their own unit.
        series: look of each competitor.
        rope: declared half-width of the region of practical equivalence; None for none.
        fairness: fairness of the study that was ranked; None for a table of scores.
    """
    differences = paired_differences(tournament, series, rope=rope, fairness=fairness)
    diagram = _diagram(tournament)
    parts: tuple[Part, ...] = (differences, diagram)
    if isinstance(diagram, Illustration) and len(tournament.names) > _MOST_NARROW:
        parts = (SideBySide(parts=(differences, diagram)),)
    return Section(name="differences", title="Pairwise comparisons", parts=parts)


def paired_differences(
    tournament: Tournament,
    series: Mapping[str, Series],
    *,
    rope: float | None,
    fairness: Fairness | None = None,
) -> Illustration:
    """Differences with Student's t intervals over what the tests count as independent.

    Args:
        tournament: the tournament; few competitors have all pairs shown, many those of the first.
        series: look of each competitor.
        rope: half-width of the region of practical equivalence, which is shaded; None for none.
        fairness: fairness of the study that was ranked; None for a table of scores.
    """
    is_every = len(tournament.pairs) <= _MOST_PAIRS
    first = tournament.names[0]
    pairs = [pair for pair in tournament.pairs if is_every or pair.a == first]
    found = {(pair.a, pair.b): _interval(tournament, pair) for pair in tournament.pairs}
    intervals = [found[pair.a, pair.b] for pair in pairs]
    plot = intervals_plot(
        [
            IntervalRow(
                name=pair.b,
                group=f"{pair.a} minus" if is_every else "",
                estimate=Estimate(value=one.estimate, low=one.low, high=one.high),
                series=series[pair.b],
                is_filled=pair.differs(tournament.alpha),
                columns=(p_value(pair.p),),
                note="significantly different"
                if pair.differs(tournament.alpha)
                else "not significantly different",
            )
            for pair, one in zip(pairs, intervals, strict=True)
        ],
        IntervalAxis(
            label="Difference, points",
            reference=0,
            region=None if rope is None else (-rope, rope),
            region_label="practically equivalent",
        ),
        IntervalWords(value="mean difference, points", heads=("p",)),
        name="paired-differences-plot",
        title="Paired differences with their intervals",
        description="One line for each pair: mean difference in points with its 95 % interval."
        " Hollow marks do not differ significantly. The numbers are in the table.",
    )
    return Illustration(
        name="paired-differences",
        plots=(plot,),
        caption=f"Paired differences{'' if is_every else f' of {first}'}: mean and"
        f" {_intervals(tournament, intervals)}; hollow: not significantly different by the primary"
        f" test ({METHODS[tournament.test]}), whose p is at the right.{_region(rope)}",
        table=_pair_list(tournament, found, series, fairness),
    )


def _interval(tournament: Tournament, pair: Pair) -> Interval:
    """Over the units of the tests: groups of blocks, blocks, or runs of fixed blocks."""
    a, b = tournament.names.index(pair.a), tournament.names.index(pair.b)
    if tournament.run_scores is not None:
        return t_interval(
            (tournament.unit_scores_UC[:, a] - tournament.unit_scores_UC[:, b]).tolist()
        )
    gaps_B = tournament.scores_BC[:, a] - tournament.scores_BC[:, b]
    return grouped_interval(gaps_B.tolist(), tournament.block_groups.labels)


def _intervals(tournament: Tournament, found: Sequence[Interval]) -> str:
    if found[0].low is None:
        return f"no interval, which takes {FEWEST_VALUES} {tournament.units.noun}s"
    return (
        f"Student's 95 % interval over {tournament.units.counted}, not adjusted for the number of"
        " pairs"
    )


def _region(rope: float | None) -> str:
    if rope is None:
        return ""
    return f" Shaded: the declared region of practical equivalence, {rope:g} points either way."


def _diagram(tournament: Tournament) -> Illustration | Paragraph:
    """The critical-difference diagram, or one sentence where there is none."""
    length, last = tournament.critical_difference, len(tournament.names)
    noun = tournament.units.noun
    if length is None:
        return _note(f"A critical difference needs at least three competitors and two {noun}s.")
    if length > last - 1:
        return _note(
            f"No critical-difference diagram: with {tournament.units.counted} Nemenyi's critical"
            f" difference of {length:.2f} exceeds the axis from rank 1 to {last}."
        )
    groups = {tournament.test: tournament.groups, "nemenyi": tournament.nemenyi_groups}
    return Illustration(
        name="critical-difference",
        plots=tuple(
            critical_difference_plot(
                list(tournament.nemenyi_ranks.items()),
                of_test,
                test=TEST_LABELS[test],
                critical_difference=length if test == "nemenyi" else None,
                name=f"critical-difference-{test.replace('_', '-')}",
                label=TEST_LABELS[test] if len(groups) > 1 else "",
            )
            for test, of_test in groups.items()
        ),
        selector="Test" if len(groups) > 1 else "",
        caption=f"Critical-difference diagram over {_ranked(tournament)}: a bracket joins"
        " competitors that do not differ significantly; where it is dotted, it passes others."
        f" CD = {length:.2f} is Nemenyi's critical difference at {100 * tournament.alpha:g} %"
        f"{_by_groups(tournament)}.",
        table=_group_table(groups, tournament),
    )


def _note(text: str) -> Paragraph:
    return Paragraph(text=text, style="note")


def _ranked(tournament: Tournament) -> str:
    """What the average ranks of Nemenyi's test are over."""
    if tournament.question == "these_blocks":
        return tournament.units.counted
    return counted(len(tournament.blocks), "block")


def _by_groups(tournament: Tournament) -> str:
    return f" for {tournament.units.counted}" if tournament.units.noun == "group" else ""


def _group_table(groups: Mapping[PrimaryTest, Groups], tournament: Tournament) -> Table:
    """The groups that the diagram draws, with the ranks they span."""
    ranks = tournament.nemenyi_ranks
    rows = [
        (TEST_LABELS[test], group, (ranks[group[0]], ranks[group[-1]]))
        for test, of_test in groups.items()
        for group in of_test
    ]
    return table(
        rows,
        (
            Column.text("Test", 0),
            Column.text("Not significantly different", lambda row: listed(row[1])),
            Column.count("Members", lambda row: len(row[1])),
            Column.interval("Average ranks", lambda row: row[2][0], lambda row: row[2][1]),
        ),
        name="groups",
        caption="Largest groups in which no pair differs significantly, at"
        f" {100 * tournament.alpha:g} %",
        note="" if rows else "Every pair differs significantly.",
    )


def _pair_list(
    tournament: Tournament,
    found: Mapping[tuple[str, str], Interval],
    series: Mapping[str, Series],
    fairness: Fairness | None,
) -> Table:
    """Every pair once, the better placed first; with ``fairness`` also what it does not share."""

    def adjusted(label: str, name: str, test: PrimaryTest) -> Column:
        def is_decisive(pair: Pair) -> bool:
            return tournament.test == test and pair.differs(tournament.alpha)

        return Column.p_value(label, name, best=is_decisive)

    return table(
        tournament.pairs,
        (
            Column.named("First", "a", series),
            Column.named("Second", "b", series),
            Column.signed("Mean gap, points", "mean_difference"),
            Column.interval(
                "95 % interval",
                lambda pair: found[pair.a, pair.b].low,
                lambda pair: found[pair.a, pair.b].high,
            ),
            Column.text(
                "Won/tied/lost",
                lambda pair: f"{pair.wins}/{pair.ties}/{pair.losses}",
                order="wins",
                is_number=True,
            ),
            Column.p_value("p Wilcoxon", lambda pair: pair.wilcoxon and pair.wilcoxon.p_value),
            adjusted("p Holm", "p_holm", "wilcoxon_holm"),
            adjusted("p Nemenyi", "p_nemenyi", "nemenyi"),
            adjusted("p permutation", "p", "permutation_holm")
            if tournament.test == "permutation_holm"
            else None,
            Column.text("Not equal in", lambda pair: _unequal(pair, fairness))
            if fairness
            else None,
        ),
        name="pairs",
        caption="Every pair, block by block; the gap is the first minus the second",
        note=_verdict_note(tournament),
    )


def _unequal(pair: Pair, fairness: Fairness) -> str | None:
    """What the pair does not share apart from its formulas."""
    names = [
        item.label
        for item in fairness.disparities
        if item.area not in ("loss", "protocol") and item.separates(pair.a, pair.b)
    ]
    return ", ".join(dict.fromkeys(names)) or None


def _verdict_note(tournament: Tournament) -> str:
    smallest = tournament.smallest_p
    if smallest is None:
        return tournament.units.why_untestable
    return (
        f"In bold: significantly different at {100 * tournament.alpha:g} % by the primary test"
        f" ({METHODS[tournament.test]}) over {tournament.units.counted} and"
        f" {counted(len(tournament.pairs), 'pair')}: the verdicts of this page."
        f" {smallest_p_sentence(smallest)}"
    )
