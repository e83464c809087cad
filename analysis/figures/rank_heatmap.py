"""Ranks of every block and competitor as a map of colours.

B blocks, C competitors.
"""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from analysis.figures.block_map import (
    MOST_WIDE,
    block_map,
    cell_colour,
    draw_cells,
    write_in_cells,
)
from analysis.figures.style import FONT_SIZE, PAPER
from analysis.figures.svg import inline_svg


def draw_rank_heatmap(
    blocks: Sequence[str], competitors: Sequence[str], ranks_BC: NDArray[np.float64], *, name: str
) -> Markup:
    """One row a block, one column a competitor; yellow is rank 1, dark blue the last.

    Numbers are written in the cells as long as they fit, for up to 24 competitors.

    Args:
        blocks: labels of the blocks, from the top.
        competitors: names of the competitors, from the left; at least two.
        ranks_BC: ranks within each block, 1 to C; ties share their average rank.
        name: name of the figure, unique within the page.
    """
    num_blocks, num_competitors = ranks_BC.shape
    has_numbers = num_competitors <= MOST_WIDE
    brightness_BC = (num_competitors - ranks_BC) / (num_competitors - 1)
    with block_map(blocks, competitors, is_wide=has_numbers) as (figure, axes):
        for brightness in np.unique(brightness_BC):
            cells = np.argwhere(brightness_BC == brightness)
            draw_cells(axes, cells, face=cell_colour(float(brightness)), edge=PAPER)
        if has_numbers:
            ranks = {cell: f"{rank:g}" for cell, rank in np.ndenumerate(ranks_BC)}
            write_in_cells(axes, ranks, brightness_BC, font_size=FONT_SIZE - 1)
        return inline_svg(
            figure,
            name=name,
            title="Rank of each competitor in each block",
            description=f"{num_blocks} rows of blocks, {num_competitors} columns of competitors,"
            " best on average at the left; the brighter a cell, the better the rank. The ranks"
            " are in the table after the figure.",
        )
