"""Missing cells: which blocks and losses were tested, which failed, and which never ran."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from analysis.figures.matrix import MatrixText, State, matrix_plot
from analysis.figures.plot import Plot
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Illustration, Paragraph, Part, Section, Table
from analysis.scores.cell_states import CellState, cell_states
from analysis.study_results.study_results import StudyResults
from analysis.wording import counted, listed

# The sign alone distinguishes states, for readers who do not see the colours.
_LOOKS: Mapping[CellState, tuple[str, str]] = {
    CellState.TESTED: ("✓", "var(--neutral)"),
    CellState.PARTLY_FAILED: ("◐", "var(--series-5)"),
    CellState.FAILED: ("✗", "var(--behind)"),
    CellState.PRUNED: ("▽", "var(--series-3)"),
    CellState.UNTESTED: ("◇", "var(--series-4)"),
    CellState.NOT_RUN: ("–", ""),
}


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
            plots=(_map(blocks, losses, states),),
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


def _map(
    blocks: Sequence[str], losses: Sequence[str], states: Mapping[tuple[str, str], CellState]
) -> Plot:
    """Rows are losses, columns blocks; the key counts each state that there is."""
    counts = Counter(states.values())
    present = [state for state in CellState if counts[state]]
    values_LB = np.array(
        [[present.index(states[block, loss]) for block in blocks] for loss in losses], dtype=float
    )
    return matrix_plot(
        losses,
        blocks,
        values_LB,
        [
            State(
                label=f"{state.value} ({counts[state]})",
                sign=_LOOKS[state][0],
                colour=_LOOKS[state][1],
            )
            for state in present
        ],
        MatrixText(joint="in"),
        name="missing-map-plot",
        title="State of each loss in each block",
        description="; ".join(f"{counts[state]} {state.value}" for state in present)
        + ". The table names those without a full score.",
    )
