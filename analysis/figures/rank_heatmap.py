"""Ranks of every block and competitor as a map of colours."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from numpy.typing import NDArray

from analysis.figures.block_map import MOST_WIDE, block_map
from analysis.figures.style import FONT_SIZE, PAPER
from analysis.figures.svg import inline_svg

__all__ = ["draw_rank_heatmap"]

_BRIGHT = 0.45  # from here on black is easier to read on cividis than white


def draw_rank_heatmap(
    blocks: Sequence[str],
    competitors: Sequence[str],
    ranks_BC: NDArray[np.float64],
    *,
    name: str,
) -> Markup:
    """One row a block, one column a competitor; yellow is rank 1, dark blue the last.

    Numbers are written in the cells as long as they fit, for up to 24 competitors. Cells of one
    rank are one mark, so that a map of hundreds of cells stays small.

    Args:
        blocks: labels, from the top.
        competitors: names, from the left; at least two.
        ranks_BC: average ranks, 1 to C.
        name: of the figure, unique within the page.
    """
    num_blocks, num_competitors = ranks_BC.shape
    has_numbers = num_competitors <= MOST_WIDE
    brightness_BC = (num_competitors - ranks_BC) / (num_competitors - 1)
    with block_map(blocks, competitors, is_wide=has_numbers) as (figure, axes):
        for brightness in np.unique(brightness_BC):
            _draw_cells(axes, np.argwhere(brightness_BC == brightness), _colour(brightness))
        if has_numbers:
            _write_ranks(axes, ranks_BC, brightness_BC)
        return inline_svg(
            figure,
            name=name,
            title="Rank of each competitor in each block",
            description=f"{num_blocks} rows of blocks, {num_competitors} columns of competitors,"
            " best on average at the left; the brighter a cell, the better the rank. The ranks"
            " are in the table after the figure.",
        )


def _draw_cells(axes: Axes, places: NDArray[np.intp], colour: str) -> None:
    """All cells of one colour as one mark, with gaps of paper between them."""
    square = Path.unit_rectangle()
    # N cells x 5 corners x (x, y)
    corners = np.asarray(square.vertices) + (places[:, np.newaxis, ::-1] - 0.5)
    outline = Path(corners.reshape(-1, 2), np.tile(np.asarray(square.codes), len(places)))
    axes.add_patch(PathPatch(outline, facecolor=colour, edgecolor=PAPER, linewidth=1))


def _write_ranks(
    axes: Axes, ranks_BC: NDArray[np.float64], brightness_BC: NDArray[np.float64]
) -> None:
    for (block, competitor), rank in np.ndenumerate(ranks_BC):
        axes.text(
            competitor,
            block,
            f"{rank:g}",
            ha="center",
            va="center",
            fontsize=FONT_SIZE - 1,
            color="#000000" if brightness_BC[block, competitor] >= _BRIGHT else "#ffffff",
        )


def _colour(brightness: float) -> str:
    red, green, blue, _ = colormaps["cividis"](float(brightness))
    return "#" + "".join(f"{round(255 * part):02x}" for part in (red, green, blue))
