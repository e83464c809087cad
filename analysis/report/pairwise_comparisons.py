"""Pairwise comparisons: which pairs of competitors differ significantly.

C competitors.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from analysis.figures.critical_difference import Cliques, draw_critical_difference
from analysis.figures.pair_matrix import draw_pair_matrix
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
    Table,
)
from analysis.report.fairness import fairness_note
from analysis.study_results.study_results import StudyResults
from analysis.tournament.primary_test_text import METHODS, adjusted_word
from analysis.tournament.tournament import Tournament
from analysis.tournament.verdict_text import smallest_p_sentence
from analysis.wording import MISSING, counted, listed, p_equals, range_of
from orchestrator.results.records.fairness_record import Fairness
from orchestrator.results.records.tournament_rules import TEST_LABELS

_NO_DIAGRAM = "A critical difference needs at least three competitors and two"


def pairwise_comparisons(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section of a study, or why nothing was tested."""
    if results.tournament:
        parts = pair_parts(
            results.tournament, series, fairness=results.fairness, aside=fairness_note(results)
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
    fairness: Fairness | None = None,
    aside: Sequence[Part] = (),
) -> tuple[Part, ...]:
    """The critical-difference diagram, the matrix of all pairs, and their list.

    Args:
        tournament: the tournament, whose scores are shown in their own unit.
        series: look of each competitor.
        fairness: fairness of the study that was ranked; None for a table of scores.
        aside: parts to be put below the matrix.
    """
    pairs = _pair_list(tournament, series, fairness=fairness)
    return (
        _diagram(tournament, series) or Paragraph(text=f"{_NO_DIAGRAM} {tournament.units.noun}s."),
        _pair_figure(tournament, series),
        *aside,
        Fold(summary="Every pair, with wins and the other tests", parts=(pairs,)),
    )


def _diagram(tournament: Tournament, series: Mapping[str, Series]) -> Illustration | None:
    if tournament.critical_difference is None:
        return None
    cliques = [Cliques(test=TEST_LABELS[tournament.test], groups=tournament.groups)]
    if tournament.test != "nemenyi":
        cliques.append(Cliques(test=TEST_LABELS["nemenyi"], groups=tournament.nemenyi_groups))
    plot = draw_critical_difference(
        [(series[name], rank) for name, rank in tournament.nemenyi_ranks.items()],
        critical_difference=tournament.critical_difference,
        cliques=cliques,
        name="critical-difference-plot",
    )
    level = f"{100 * tournament.alpha:g} %"
    return Illustration(
        name="critical-difference",
        plots=(plot,),
        caption=f"Critical-difference diagram over {_ranked(tournament)},"
        f" best at the left. CD is Nemenyi's critical difference at {level}"
        f"{_by_groups(tournament)}. Dots on one line are"
        " competitors that do not differ significantly by the test; dotted stretches pass over"
        " competitors that do not belong.",
        table=_group_table(cliques, tournament),
    )


def _ranked(tournament: Tournament) -> str:
    """What the average ranks of Nemenyi's test are over."""
    if tournament.question == "these_blocks":
        return tournament.units.counted
    return counted(len(tournament.blocks), "block")


def _by_groups(tournament: Tournament) -> str:
    return f" for {tournament.units.counted}" if tournament.units.noun == "group" else ""


def _group_table(cliques: Sequence[Cliques], tournament: Tournament) -> Table:
    """The groups that the diagram draws, with the ranks they span."""
    ranks = tournament.nemenyi_ranks
    rows = [
        (
            Cell.word(test.test),
            Cell.word(listed(group)),
            Cell.count(len(group)),
            Cell(
                text=range_of(ranks[group[0]], ranks[group[-1]]),
                order=ranks[group[-1]] - ranks[group[0]],
            ),
        )
        for test in cliques
        for group in test.groups
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


def _pair_figure(tournament: Tournament, series: Mapping[str, Series]) -> Illustration:
    """The gaps of all pairs as a map, followed by the matrix."""
    index = {name: position for position, name in enumerate(tournament.names)}
    gaps_CC = np.zeros((len(index), len(index)))
    is_different_CC = np.zeros(gaps_CC.shape, dtype=bool)
    for pair in tournament.pairs:
        a, b = index[pair.a], index[pair.b]
        gaps_CC[a, b], gaps_CC[b, a] = pair.mean_difference, -pair.mean_difference
        is_different_CC[a, b] = is_different_CC[b, a] = pair.differs(tournament.alpha)
    return Illustration(
        name="pair-figure",
        plots=(
            draw_pair_matrix(tournament.names, gaps_CC, is_different_CC, name="pair-figure-plot"),
        ),
        caption=f"Mean gap of row over column in points, over"
        f" {counted(len(tournament.blocks), 'block')}: yellow where the row is ahead, dark blue"
        " where it is behind. Framed pairs differ significantly by the primary test"
        f" ({METHODS[tournament.test]}, {100 * tournament.alpha:g} %).",
        table=_pair_matrix(tournament, series),
    )


def _pair_matrix(tournament: Tournament, series: Mapping[str, Series]) -> Table:
    """Row minus column, below it wins/ties/losses and adjusted p; best first both ways."""
    names = tournament.names
    found = {(pair.a, pair.b): pair for pair in tournament.pairs}
    rows = [
        (
            Cell.named(row, series),
            *(_matrix_cell(found, row, column, tournament) for column in names),
        )
        for row in names
    ]
    return Table(
        name="pair-matrix",
        caption=f"Mean gap of row over column in points; blocks won/tied/lost by the row, and"
        f" {adjusted_word(tournament.test)} p",
        columns=(*Column.texts("Of"), *Column.named(names, series)),
        rows=tuple(rows),
        note=_verdict_note(tournament),
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


def _matrix_cell(
    found: Mapping[tuple[str, str], Pair], row: str, column: str, tournament: Tournament
) -> Cell:
    if row == column:
        return Cell(text=MISSING)
    pair = found.get((row, column))
    sign = 1 if pair else -1
    pair = pair or found[column, row]
    return Cell.signed(
        sign * pair.mean_difference,
        detail="; ".join(
            [
                "/".join(map(str, (pair.wins, pair.ties, pair.losses)[::sign])),
                *([p_equals(pair.p)] if pair.p is not None else []),
            ]
        ),
        is_best=pair.differs(tournament.alpha),
    )


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
