"""The order over all blocks, where some lack scores and a ranking would leave them out."""

from collections.abc import Mapping

from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Part, Table
from analysis.tournament.tournament import Tournament
from analysis.tournament.verdict_text import skillings_mack_sentence
from analysis.wording import counted


def all_blocks(tournament: Tournament, series: Mapping[str, Series]) -> tuple[Part, ...]:
    """The order over all blocks; empty if each has all scores.

    Args:
        tournament: the tournament.
        series: look of each competitor.
    """
    available = tournament.available
    if available is None:
        return ()
    rows = [
        (
            Cell.named(rank.competitor, series),
            Cell.number(rank.rank_sum),
            Cell.number(rank.beaten_by),
            Cell.number(rank.average_rank),
            Cell.count(rank.num_blocks),
        )
        for rank in available.ranks
    ]
    test = available.test
    result = (
        skillings_mack_sentence(test)
        if test
        else "Skillings and Mack's test cannot be computed on these scores."
    )
    left_out = counted(len(tournament.excluded), "block")
    return (
        Table(
            name="available-ranks",
            caption=f"All blocks, also the {left_out} left out of the ranking for missing scores",
            columns=(
                *Column.texts("Competitor"),
                Column(label="Rank sum"),
                Column(label="Beaten by", least_first=True),
                *Column.numbers("Average rank", "Blocks"),
            ),
            rows=tuple(rows),
            note=f"{result} Rank sum: of ranks around the middle one, the lowest is first; a"
            " missing score counts as the middle. Beaten by: mean share of the others present that"
            " are better, 0 is first. Ranks are among those present; fewer present make better"
            " ranks.",
            is_sortable=True,
        ),
    )
