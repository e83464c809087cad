"""Missing cells: which blocks and losses were tested, which failed, and which never ran."""

from collections.abc import Iterator, Mapping, Sequence

from analysis.figures.cell_map import draw_cell_map
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Illustration, Paragraph, Part, Section, Table
from analysis.scores.cell_states import CellState, cell_states
from analysis.study_results.study_results import StudyResults
from analysis.wording import counted, listed


def missing_cells(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The map of blocks and losses, or one sentence if all were tested; None before any trial."""
    trials = results.compared_trials
    states = cell_states(trials, results.finals, results.losses)
    if not states:
        return None
    return Section(
        name="missing",
        title="Missing cells",
        parts=(*_cancelled(results), *_parts(states, results.losses, series)),
    )


def _cancelled(results: StudyResults) -> Iterator[Part]:
    named = [
        f"{search} after {counted(had, 'trial')}" for search, had in results.cancelled.items()
    ]
    if named:
        yield Paragraph(text=f"Cancelled by the user, and so without a test: {listed(named)}.")


def _parts(
    states: Mapping[tuple[str, str], CellState],
    losses: Sequence[str],
    series: Mapping[str, Series],
) -> Sequence[Part]:
    blocks = list(dict.fromkeys(block for block, _ in states))
    counts = f"{counted(len(blocks), 'block')} and {counted(len(losses), 'loss', 'losses')}"
    open_cells = {cell: state for cell, state in states.items() if state is not CellState.TESTED}
    if not open_cells:
        return (Paragraph(text=f"Every cell of {counts} was tested; no final run failed."),)
    rows = tuple(
        (Cell.word(block), Cell.named(loss, series), Cell.word(state.value))
        for (block, loss), state in open_cells.items()
    )
    return (
        Illustration(
            name="missing-map",
            plots=(draw_cell_map(blocks, losses, states, name="missing-map-plot"),),
            caption=f"State of each of {counts}, n = {len(states)} cells. A block that lacks"
            " the score of a loss is left out of the ranking. Blocks of which no trial was begun"
            " are not shown.",
            table=Table(
                name="missing-table",
                caption=f"Cells without a full score: {len(rows)} of {len(states)}",
                columns=Column.texts("Block", "Loss", "State"),
                rows=rows,
                is_sortable=True,
            ),
        ),
    )
