"""Ranks by block: where each competitor does well."""

from collections.abc import Mapping

from analysis.figures.matrix import MatrixText, Scale, matrix_plot
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
            matrix_plot(
                tournament.names,
                tournament.block_labels,
                tournament.ranks_BC.T,
                Scale(
                    label="Rank within the block (1 is best)",
                    start=len(tournament.names),
                    end=1,
                    digits=0,
                ),
                MatrixText(joint="in"),
                name="rank-map-plot",
                title="Rank of each competitor in each block",
                description=f"{len(tournament.names)} rows of competitors, best on average at the"
                f" top, {blocks} as columns; the darker a cell, the better the rank.",
            ),
        ),
        caption=f"Rank of each competitor within each block (n = {blocks}"
        + (f"; {left_out} left out" if tournament.excluded else "")
        + "); ties share their average rank.",
        table=Table(
            name="rank-map-table",
            caption=f"Ranks within {blocks}, 1 is best",
            columns=(*Column.texts("Block"), *Column.named(tournament.names, series)),
            rows=tuple(rows),
            is_sortable=True,
        ),
    )
