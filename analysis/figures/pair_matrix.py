"""Mean gaps of all pairs as a map of colours, those that a test tells apart framed."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from numpy.typing import NDArray

from analysis.figures.block_map import block_map
from analysis.figures.style import FONT_SIZE, INK, PAPER
from analysis.figures.svg import inline_svg

__all__ = ["draw_pair_matrix"]

_MOST_NUMBERED = 14  # competitors whose gaps are written into their cells
_STEPS = 32  # shades: cells of one shade are one mark
_BRIGHT = 0.45  # from here on black is easier to read on cividis than white


def draw_pair_matrix(
    competitors: Sequence[str],
    gaps_CC: NDArray[np.float64],
    is_apart_CC: NDArray[np.bool_],
    *,
    unit: str,
    name: str,
) -> Markup:
    """Row minus column: yellow where the row is ahead, dark blue where it is behind.

    Args:
        competitors: names, best first.
        gaps_CC: mean gaps of row over column, in ``unit``; the diagonal is not drawn.
        is_apart_CC: the pairs that are framed.
        unit: of a gap.
        name: of the figure, unique within the page.
    """
    num = len(competitors)
    has_numbers = num <= _MOST_NUMBERED
    largest = float(np.abs(gaps_CC).max())
    shade_CC = np.round(_STEPS * (gaps_CC / largest if largest else gaps_CC)) / _STEPS
    off_diagonal_CC = ~np.eye(num, dtype=bool)
    with block_map(competitors, competitors, is_wide=has_numbers) as (figure, axes):
        for shade in np.unique(shade_CC[off_diagonal_CC]):
            places = np.argwhere(off_diagonal_CC & (shade_CC == shade))
            _draw(axes, places, face=_colour(float(shade)), edge=PAPER, side=1.0)
        _draw(axes, np.argwhere(is_apart_CC & off_diagonal_CC), face="none", edge=INK, side=0.86)
        if has_numbers:
            _write(axes, gaps_CC, shade_CC)
        return inline_svg(
            figure,
            name=name,
            title="Mean gap of each pair of competitors",
            description=f"{num} rows and columns of competitors, best first; the brighter a cell,"
            f" the further its row is ahead of its column, at most {largest:.2f} {unit}. Framed"
            " pairs differ by the primary test. The gaps are in the table after the figure.",
        )


def _draw(axes: Axes, places: NDArray[np.intp], *, face: str, edge: str, side: float) -> None:
    """All cells as one mark."""
    if not len(places):
        return
    square = Path.unit_rectangle()
    offsets = places[:, np.newaxis, ::-1] - side / 2
    corners = (side * np.asarray(square.vertices) + offsets).reshape(-1, 2)  # 5 a cell
    outline = Path(corners, np.tile(np.asarray(square.codes), len(places)))
    axes.add_patch(PathPatch(outline, facecolor=face, edgecolor=edge, linewidth=1.2))


def _write(axes: Axes, gaps_CC: NDArray[np.float64], shade_CC: NDArray[np.float64]) -> None:
    for (row, column), gap in np.ndenumerate(gaps_CC):
        if row == column:
            continue
        axes.text(
            column,
            row,
            f"{gap:.1f}".replace("-", "−"),
            ha="center",
            va="center",
            fontsize=FONT_SIZE - 2,
            color="#000000" if (shade_CC[row, column] + 1) / 2 >= _BRIGHT else "#ffffff",
        )


def _colour(shade: float) -> str:
    red, green, blue, _ = colormaps["cividis"]((shade + 1) / 2)
    return "#" + "".join(f"{round(255 * part):02x}" for part in (red, green, blue))
