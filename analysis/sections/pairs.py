"""Which pairs of competitors differ, as a matrix and as a list."""

from collections.abc import Mapping

from analysis.figures.style import Series
from analysis.page import Cell, Column, Table
from analysis.significance import Pair
from analysis.tournament import Tournament
from analysis.wording import MISSING, counted, p_equals, p_value, signed
from orchestrator.results.fairness import Fairness

__all__ = ["pair_list", "pair_matrix"]


def pair_matrix(tournament: Tournament, series: Mapping[str, Series], *, unit: str) -> Table:
    """Row minus column, with the Holm-adjusted p below; best first both ways."""
    names = tournament.names
    found = {(pair.a, pair.b): pair for pair in tournament.pairs}
    rows = [
        (_name(row, series), *(_matrix_cell(found, row, column, tournament) for column in names))
        for row in names
    ]
    return Table(
        name="pair-matrix",
        caption=f"Mean gap of row over column in {unit}, with its Holm-adjusted p",
        columns=(
            Column(label="", is_number=False),
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
    rows = [
        (
            _name(pair.a, series),
            _name(pair.b, series),
            Cell(text=signed(pair.mean_difference), order=pair.mean_difference),
            Cell(text=f"{pair.wins}/{pair.ties}/{pair.losses}", order=pair.wins),
            Cell(text=p_value(pair.wilcoxon.p_value if pair.wilcoxon else None)),
            Cell(text=p_value(pair.p_holm), order=pair.p_holm, is_best=_differs(pair, tournament)),
            Cell(text=p_value(pair.p_nemenyi), order=pair.p_nemenyi),
            *((_unequal(pair, fairness),) if fairness else ()),
        )
        for pair in tournament.pairs
    ]
    labels = (f"Mean gap, {unit}", "Won/tied/lost", "p Wilcoxon", "p Holm", "p Nemenyi")
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
        detail=p_equals(pair.p_holm) if pair.p_holm is not None else "",
        is_best=_differs(pair, tournament),
    )


def _differs(pair: Pair, tournament: Tournament) -> bool:
    return pair.p_holm is not None and pair.p_holm <= tournament.alpha


def _verdict_note(tournament: Tournament) -> str:
    smallest = tournament.smallest_p
    if smallest is None:
        return "One block supports no test."
    return (
        f"In bold: different at {100 * tournament.alpha:g} %. Two-sided exact Wilcoxon signed-rank"
        f" test over {counted(len(tournament.blocks), 'block')}, adjusted by Holm over all"
        f" {counted(len(tournament.pairs), 'pair')}: the verdicts of this page. The smallest p any"
        f" pair could reach with these blocks is {p_value(smallest.raw)} before and"
        f" {p_value(smallest.holm)} after the adjustment."
    )


def _name(competitor: str, series: Mapping[str, Series]) -> Cell:
    return Cell(text=competitor, series=series[competitor], order=competitor)
