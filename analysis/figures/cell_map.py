"""The state of every cell, a block and a competitor: a symbol and a colour for each state."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup
from matplotlib.axes import Axes

from analysis.figures.block_map import MOST_WIDE, block_map
from analysis.figures.series import SERIES_COLOURS
from analysis.figures.style import INK
from analysis.figures.svg import inline_svg
from analysis.scores.cell_states import CellState

_BLUE, _ORANGE, _GREEN, _PINK = SERIES_COLOURS[:4]
_LINE = 20
_LEGEND = 240

# Shape and filling alone distinguish them, for readers who do not see the colours.
_MARKS: Mapping[CellState, Mapping[str, Any]] = {
    CellState.TESTED: {"marker": "o", "color": _GREEN, "markersize": 4.5},
    CellState.PARTLY_FAILED: {
        "marker": "o",
        "color": _ORANGE,
        "fillstyle": "left",
        "markerfacecoloralt": "none",
    },
    CellState.FAILED: {"marker": "x", "color": _ORANGE, "markeredgewidth": 2.2},
    CellState.PRUNED: {"marker": "v", "color": _PINK},
    CellState.UNTESTED: {"marker": "D", "color": _BLUE, "markerfacecolor": "none"},
    CellState.NOT_RUN: {"marker": "_", "color": INK, "markeredgewidth": 1.4},
}


def draw_cell_map(
    blocks: Sequence[str],
    competitors: Sequence[str],
    states: Mapping[tuple[str, str], CellState],
    *,
    name: str,
) -> Markup:
    """One row a block, one column a competitor, with a legend that counts each state.

    Args:
        blocks: labels of the blocks, from the top.
        competitors: names of the competitors, from the left.
        states: state of each (block, competitor).
        name: name of the figure, unique within the page.
    """
    counts = Counter(states[block, loss] for block in blocks for loss in competitors)
    present = [state for state in CellState if counts[state]]
    is_wide = len(competitors) <= MOST_WIDE
    below = 16 + _LINE * len(present)
    room = {"below_px": below, "least_px": _LEGEND}
    with block_map(blocks, competitors, is_wide=is_wide, **room) as (figure, axes):
        for state in present:
            cells = [
                (x, y)
                for y, block in enumerate(blocks)
                for x, loss in enumerate(competitors)
                if states[block, loss] is state
            ]
            xs, ys = zip(*cells, strict=True)
            axes.plot(xs, ys, linestyle="none", clip_on=False, **_MARKS[state])
        _draw_legend(axes, present, counts)
        return inline_svg(
            figure,
            name=name,
            title="State of each block and competitor",
            description="; ".join(f"{counts[state]} {state.value}" for state in present)
            + ". The table after the figure names those without a full score.",
        )


def _draw_legend(
    axes: Axes, present: Sequence[CellState], counts: Mapping[CellState, int]
) -> None:
    for line, state in enumerate(present):
        axes.annotate(
            f"{state.value} ({counts[state]})",
            (0, 0),
            xycoords="axes fraction",
            xytext=(16, -16 - _LINE * line),
            textcoords="offset points",
            va="center",
            annotation_clip=False,
        )
        height = axes.bbox.height
        axes.plot(
            [4 / axes.bbox.width],
            [(-16 - _LINE * line) / height],
            transform=axes.transAxes,
            linestyle="none",
            clip_on=False,
            **_MARKS[state],
        )
