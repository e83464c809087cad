"""The scores of a table, block by block."""

from collections.abc import Mapping

from analysis.figures.style import Series
from analysis.page import Cell, Column, Table
from analysis.tournament import Tournament
from analysis.wording import counted, number

__all__ = ["score_table"]


def score_table(tournament: Tournament, series: Mapping[str, Series], *, score: str) -> Table:
    """Rows blocks, columns competitors, best first; the best of each block in bold."""
    rows = [
        (
            Cell(text=label, order=label),
            *(
                Cell(
                    text=number(float(value)),
                    order=float(value),
                    is_best=bool(value == scores_C.max()),
                )
                for value in scores_C
            ),
        )
        for label, scores_C in zip(tournament.block_labels, tournament.scores_BC, strict=True)
    ]
    return Table(
        name="scores",
        caption=f"{score}: the {counted(tournament.scores_BC.size, 'score')} ranked; the best of"
        " each block is bold",
        columns=(
            Column(label="/".join(tournament.by), is_number=False),
            *(Column(label=name, series=series[name]) for name in tournament.names),
        ),
        rows=tuple(rows),
        is_sortable=True,
    )
