"""Pairwise comparisons: which pairs of competitors differ significantly."""

from collections.abc import Mapping

from analysis.figures.critical_difference import critical_difference_plot
from analysis.figures.series import Series
from analysis.hypothesis_tests.pairwise_comparisons import Pair
from analysis.page.html_page import (
    Cell,
    Column,
    Fold,
    Illustration,
    Paragraph,
    Part,
    Section,
    SideBySide,
    Table,
)
from analysis.report.paired_differences import paired_differences
from analysis.study_results.study_results import StudyResults
from analysis.tournament.primary_test_text import METHODS
from analysis.tournament.tournament import Tournament
from analysis.tournament.verdict_text import smallest_p_sentence
from analysis.wording import MISSING, counted, listed, range_of
from orchestrator.results.records.fairness_record import Fairness
from orchestrator.results.records.tournament_rules import TEST_LABELS, PrimaryTest, rules_of

_MOST_NARROW = 12  # competitors whose figures fit into a half of the page

Groups = tuple[tuple[str, ...], ...]


def pairwise_comparisons(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section of a study, or why nothing was tested."""
    if results.tournament:
        parts = pair_parts(
            results.tournament,
            series,
            rope=rules_of(results.study).rope_points,
            fairness=results.fairness,
        )
    else:
        parts = (Paragraph(text="Without a ranking there is nothing to test."),)
    return pair_section(parts)


def pair_section(parts: tuple[Part, ...]) -> Section:
    """The section around its parts, for a study and for a published table."""
    return Section(name="differences", title="Pairwise comparisons", parts=parts)


def pair_parts(
    tournament: Tournament,
    series: Mapping[str, Series],
    *,
    rope: float | None = None,
    fairness: Fairness | None = None,
) -> tuple[Part, ...]:
    """Paired differences, the critical-difference diagram, and every pair.

    Args:
        tournament: the tournament, whose scores are shown in their own unit.
        series: look of each competitor.
        rope: declared half-width of the region of practical equivalence; None for none.
        fairness: fairness of the study that was ranked; None for a table of scores.
    """
    pairs = _pair_list(tournament, series, fairness=fairness)
    return (
        *_beside(
            paired_differences(tournament, series, rope=rope),
            _diagram(tournament),
            num_competitors=len(tournament.names),
        ),
        Fold(summary="Every pair, with wins and the other tests", parts=(pairs,)),
    )


def _beside(
    differences: Illustration, diagram: Illustration | Paragraph, *, num_competitors: int
) -> tuple[Part, ...]:
    """The differences and the diagram, beside each other where they are high."""
    if isinstance(diagram, Paragraph) or num_competitors <= _MOST_NARROW:
        return (differences, diagram)
    return (SideBySide(parts=(differences, diagram)),)


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
        (
            Cell.word(TEST_LABELS[test]),
            Cell.word(listed(group)),
            Cell.count(len(group)),
            Cell(
                text=range_of(ranks[group[0]], ranks[group[-1]]),
                order=ranks[group[-1]] - ranks[group[0]],
            ),
        )
        for test, of_test in groups.items()
        for group in of_test
    ]
    return Table(
        name="groups",
        caption="Largest groups in which no pair differs significantly, at"
        f" {100 * tournament.alpha:g} %",
        columns=(
            *Column.texts("Test", "Not significantly different"),
            *Column.numbers("Members", "Average ranks"),
        ),
        rows=tuple(rows),
        note="" if rows else "Every pair differs significantly.",
    )


def _pair_list(
    tournament: Tournament, series: Mapping[str, Series], *, fairness: Fairness | None = None
) -> Table:
    """Every pair once, the better placed first; with ``fairness`` also what it does not share."""
    alpha = tournament.alpha
    rows = [
        (
            Cell.named(pair.a, series),
            Cell.named(pair.b, series),
            Cell.signed(pair.mean_difference),
            Cell(text=f"{pair.wins}/{pair.ties}/{pair.losses}", order=pair.wins),
            Cell.p_value(pair.wilcoxon.p_value if pair.wilcoxon else None),
            *(
                Cell.p_value(p, is_best=is_primary and p is not None and p <= alpha)
                for p, is_primary in _adjusted(pair, tournament)
            ),
            *((_unequal(pair, fairness),) if fairness else ()),
        )
        for pair in tournament.pairs
    ]
    flipped = ("p permutation",) if tournament.test == "permutation_holm" else ()
    labels = (
        *("Mean gap, points", "Won/tied/lost", "p Wilcoxon", "p Holm", "p Nemenyi"),
        *flipped,
    )
    return Table(
        name="pairs",
        caption="Every pair, block by block; the gap is the first minus the second",
        columns=(
            *Column.texts("First", "Second"),
            *Column.numbers(*labels),
            *(Column.texts("Not equal in") if fairness else ()),
        ),
        rows=tuple(rows),
        note=_verdict_note(tournament),
        is_sortable=True,
    )


def _unequal(pair: Pair, fairness: Fairness) -> Cell:
    """What the pair does not share apart from its formulas."""
    names = [
        item.label
        for item in fairness.disparities
        if item.area not in ("loss", "protocol") and item.separates(pair.a, pair.b)
    ]
    return Cell(text=", ".join(dict.fromkeys(names)) or MISSING)


def _adjusted(pair: Pair, tournament: Tournament) -> list[tuple[float | None, bool]]:
    """The adjusted p of the tests shown, and whether each is the primary one's."""
    shown = [
        (pair.p_holm, tournament.test == "wilcoxon_holm"),
        (pair.p_nemenyi, tournament.test == "nemenyi"),
    ]
    return [*shown, (pair.p, True)] if tournament.test == "permutation_holm" else shown


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
