"""Ranks by block: where each competitor does well."""

from collections.abc import Mapping

from analysis.figures.rank_heatmap import draw_rank_heatmap
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Illustration, Section, Table
from analysis.study_results.study_results import StudyResults
from analysis.tournament.table_tournament import TableResults
from analysis.tournament.tournament import Tournament
from analysis.wording import counted


def rank_map(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section of a study; None without a ranking."""
    return _section(results.tournament, series) if results.tournament else None


def table_rank_map(results: TableResults, series: Mapping[str, Series]) -> Section:
    """The section of a published table."""
    return _section(results.tournament, series)


def _section(tournament: Tournament, series: Mapping[str, Series]) -> Section:
    return Section(
        name="rank-map", title="Ranks by block", parts=(_illustration(tournament, series),)
    )


def _illustration(tournament: Tournament, series: Mapping[str, Series]) -> Illustration:
    blocks = counted(len(tournament.blocks), "block")
    left_out = counted(len(tournament.excluded), "incomplete block")
    rows = [
        (
            Cell.word(label),
            *(Cell(text=f"{rank:g}", order=float(rank), is_best=rank == 1) for rank in ranks_C),
        )
        for label, ranks_C in zip(tournament.block_labels, tournament.ranks_BC, strict=True)
    ]
    return Illustration(
        name="rank-map-figure",
        plots=(
            draw_rank_heatmap(
                tournament.block_labels,
                tournament.names,
                tournament.ranks_BC,
                name="rank-map-plot",
            ),
        ),
        caption=f"Rank of each competitor within each block (n = {blocks}"
        + (f"; {left_out} left out" if tournament.excluded else "")
        + "); yellow is rank 1, dark blue the last; ties share their average rank. Competitors"
        " from the left by average rank, blocks by name.",
        table=Table(
            name="rank-map-table",
            caption=f"Ranks within {blocks}, 1 is best",
            columns=(*Column.texts("Block"), *Column.named(tournament.names, series)),
            rows=tuple(rows),
            is_sortable=True,
        ),
    )
