"""Which pairs of competitors differ, as a matrix and as a list."""

from collections.abc import Mapping

import numpy as np

from analysis.figures.pair_matrix import draw_pair_matrix
from analysis.figures.style import Series
from analysis.hypothesis_tests.pairwise_comparisons import Pair
from analysis.page.html_page import Cell, Column, Illustration, Table
from analysis.tournament.tournament import Tournament
from analysis.tournament.tournament_text import METHODS, adjusted_word
from analysis.wording import MISSING, counted, p_equals, p_value, signed
from orchestrator.results.records.fairness_record import Fairness

__all__ = ["pair_figure", "pair_list", "pair_matrix"]


def pair_figure(
    tournament: Tournament, series: Mapping[str, Series], *, unit: str
) -> Illustration:
    """The gaps of all pairs as a map, followed by the matrix."""
    place = {name: number for number, name in enumerate(tournament.names)}
    gaps_CC = np.zeros((len(place), len(place)))
    is_apart_CC = np.zeros(gaps_CC.shape, dtype=bool)
    for pair in tournament.pairs:
        a, b = place[pair.a], place[pair.b]
        gaps_CC[a, b], gaps_CC[b, a] = pair.mean_difference, -pair.mean_difference
        is_apart_CC[a, b] = is_apart_CC[b, a] = pair.differs(tournament.alpha)
    return Illustration(
        name="pair-figure",
        plots=(
            draw_pair_matrix(
                tournament.names, gaps_CC, is_apart_CC, unit=unit, name="pair-figure-plot"
            ),
        ),
        caption=f"Mean gap of row over column in {unit}, over"
        f" {counted(len(tournament.blocks), 'block')}: yellow where the row is ahead, dark blue"
        " where it is behind. Framed pairs differ by the primary test"
        f" ({METHODS[tournament.test]}, {100 * tournament.alpha:g} %).",
        table=pair_matrix(tournament, series, unit=unit),
    )


def pair_matrix(tournament: Tournament, series: Mapping[str, Series], *, unit: str) -> Table:
    """Row minus column, below it wins/ties/losses and adjusted p; best first both ways."""
    names = tournament.names
    found = {(pair.a, pair.b): pair for pair in tournament.pairs}
    rows = [
        (_name(row, series), *(_matrix_cell(found, row, column, tournament) for column in names))
        for row in names
    ]
    return Table(
        name="pair-matrix",
        caption=f"Mean gap of row over column in {unit}; blocks won/tied/lost by the row, and"
        f" {adjusted_word(tournament.test)} p",
        columns=(
            Column(label="Of", is_number=False),
            *(Column(label=name, series=series[name]) for name in names),
        ),
        rows=tuple(rows),
        note=_verdict_note(tournament),
    )


def pair_list(
    tournament: Tournament,
    series: Mapping[str, Series],
    *,
    unit: str,
    fairness: Fairness | None = None,
) -> Table:
    """Every pair once, the better placed first; with ``fairness`` also what sets it apart."""
    alpha = tournament.alpha
    rows = [
        (
            _name(pair.a, series),
            _name(pair.b, series),
            Cell(text=signed(pair.mean_difference), order=pair.mean_difference),
            Cell(text=f"{pair.wins}/{pair.ties}/{pair.losses}", order=pair.wins),
            _raw_p(pair.wilcoxon.p_value if pair.wilcoxon else None),
            *(
                Cell(text=p_value(p), order=p, is_best=is_primary and p is not None and p <= alpha)
                for p, is_primary in _adjusted(pair, tournament)
            ),
            *((_unequal(pair, fairness),) if fairness else ()),
        )
        for pair in tournament.pairs
    ]
    flipped = ("p permutation",) if tournament.test == "permutation_holm" else ()
    labels = (
        *(f"Mean gap, {unit}", "Won/tied/lost", "p Wilcoxon", "p Holm", "p Nemenyi"),
        *flipped,
    )
    return Table(
        name="pairs",
        caption="Every pair, block by block; the gap is the first minus the second",
        columns=(
            Column(label="First", is_number=False),
            Column(label="Second", is_number=False),
            *(Column(label=label) for label in labels),
            *((Column(label="Not equal in", is_number=False),) if fairness else ()),
        ),
        rows=tuple(rows),
        is_sortable=True,
    )


def _raw_p(p: float | None) -> Cell:
    return Cell(text=p_value(p), order=p)


def _unequal(pair: Pair, fairness: Fairness) -> Cell:
    """What the pair does not share beside its formulas."""
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
    return Cell(
        text=signed(sign * pair.mean_difference),
        detail="; ".join(
            [
                "/".join(map(str, (pair.wins, pair.ties, pair.losses)[::sign])),
                *([p_equals(pair.p)] if pair.p is not None else []),
            ]
        ),
        is_best=pair.differs(tournament.alpha),
        order=sign * pair.mean_difference,
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
        return "One block supports no test."
    return (
        f"In bold: different at {100 * tournament.alpha:g} % by the primary test"
        f" ({METHODS[tournament.test]}) over {counted(len(tournament.blocks), 'block')} and"
        f" {counted(len(tournament.pairs), 'pair')}: the verdicts of this page. The smallest p any"
        f" pair could reach with these blocks is {p_value(smallest.raw)} before and"
        f" {p_value(smallest.adjusted)} after the adjustment."
    )


def _name(competitor: str, series: Mapping[str, Series]) -> Cell:
    return Cell(text=competitor, series=series[competitor], order=competitor)
