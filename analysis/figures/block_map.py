"""Maps of cells in rows and columns, such as blocks x competitors: frame and coloured cells.

P cells to draw.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import cos, radians, sin

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from numpy.typing import NDArray

from analysis.figures.style import axes_at, drawing

MOST_WIDE = 24
"""Most columns of a map whose columns are wide; more fit a page only if they are narrow."""

_LETTER = 6.6  # px, of the ticks' labels
_ROW = 20
_WIDE, _NARROW = 34, 16
_SLANT = 50  # degrees; names above narrow columns are upright
_BRIGHT = 0.45  # from this brightness on, black is easier to read on cividis than white


@contextmanager
def block_map(
    blocks: Sequence[str],
    competitors: Sequence[str],
    *,
    is_wide: bool,
    below_px: float = 4,
    least_px: float = 0,
) -> Iterator[tuple[Figure, Axes]]:
    """A figure whose cell (b, c) spans one unit around x = c, y = b.

    Args:
        blocks: labels of the rows, from the top.
        competitors: names of the columns, from the left.
        is_wide: whether a cell has room for a number.
        below_px: room under the last row.
        least_px: least room from the first column to the right edge.
    """
    slant = _SLANT if is_wide else 90
    longest = _LETTER * max(len(name) for name in competitors)
    left = 14 + _LETTER * max(len(label) for label in blocks)
    top, right = 14 + longest * sin(radians(slant)), 8 + longest * cos(radians(slant))
    width = len(competitors) * (_WIDE if is_wide else _NARROW)
    right = max(right, least_px - width)
    with drawing(left + width + right, top + len(blocks) * _ROW + below_px) as figure:
        axes = axes_at(figure, left_px=left, right_px=right, top_px=top, bottom_px=below_px)
        axes.set_xlim(-0.5, len(competitors) - 0.5)
        axes.set_ylim(len(blocks) - 0.5, -0.5)
        axes.set_yticks(range(len(blocks)), list(blocks))
        axes.set_xticks(range(len(competitors)), list(competitors))
        axes.xaxis.tick_top()
        for label in axes.get_xticklabels():
            upright = {"va": "baseline" if is_wide else "center"}
            label.set(rotation=slant, rotation_mode="anchor", ha="left", **upright)
        axes.tick_params(length=0)
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        yield figure, axes


def draw_cells(
    axes: Axes,
    cells_P2: NDArray[np.intp],
    *,
    face: str,
    edge: str,
    side: float = 1.0,
    linewidth: float = 1.0,
) -> None:
    """All cells as one mark, so that a map of hundreds of cells stays small; none for no cells.

    Args:
        axes: axes of `block_map`.
        cells_P2: row and column of each cell.
        face: colour of the cells.
        edge: colour of their outlines.
        side: length of a cell's side; neighbouring cells touch at 1.
        linewidth: width of an outline in pixels.
    """
    if not len(cells_P2):
        return
    square = Path.unit_rectangle()
    offsets_P12 = cells_P2[:, np.newaxis, ::-1] - side / 2  # x, y
    corners = (side * np.asarray(square.vertices) + offsets_P12).reshape(-1, 2)  # 5 a cell
    outline = Path(corners, np.tile(np.asarray(square.codes), len(cells_P2)))
    axes.add_patch(PathPatch(outline, facecolor=face, edgecolor=edge, linewidth=linewidth))


def cell_colour(brightness: float) -> str:
    """The colour of cividis from 0, dark blue, to 1, yellow, as ``#rrggbb``."""
    red, green, blue, _ = colormaps["cividis"](brightness)
    return "#" + "".join(f"{round(255 * part):02x}" for part in (red, green, blue))


def write_in_cells(
    axes: Axes,
    texts: Mapping[tuple[int, int], str],
    brightness: NDArray[np.float64],
    *,
    font_size: float,
) -> None:
    """Texts by row and column, in black or white, whichever is easier to read on `cell_colour`."""
    for (row, column), text in texts.items():
        axes.text(
            column,
            row,
            text,
            ha="center",
            va="center",
            fontsize=font_size,
            color="#000000" if brightness[row, column] >= _BRIGHT else "#ffffff",
        )
