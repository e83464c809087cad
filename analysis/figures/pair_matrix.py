"""Mean gaps of all pairs as a map of colours; significantly different pairs are framed.

C competitors.
"""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from analysis.figures.block_map import block_map, cell_colour, draw_cells, write_in_cells
from analysis.figures.style import FONT_SIZE, INK, PAPER
from analysis.figures.svg import inline_svg

_MOST_NUMBERED = 14  # competitors whose gaps are written into their cells
_STEPS = 32  # shades: cells of one shade are one mark


def draw_pair_matrix(
    competitors: Sequence[str],
    gaps_CC: NDArray[np.float64],
    is_different_CC: NDArray[np.bool_],
    *,
    name: str,
) -> Markup:
    """Row minus column: yellow where the row is ahead, dark blue where it is behind.

    Args:
        competitors: names of the competitors, best first.
        gaps_CC: mean gaps of row over column, in points; the diagonal is not drawn.
        is_different_CC: which pairs are framed: those that differ significantly.
        name: name of the figure, unique within the page.
    """
    num = len(competitors)
    has_numbers = num <= _MOST_NUMBERED
    largest = float(np.abs(gaps_CC).max())
    shade_CC = np.round(_STEPS * (gaps_CC / largest if largest else gaps_CC)) / _STEPS
    off_diagonal_CC = ~np.eye(num, dtype=bool)
    with block_map(competitors, competitors, is_wide=has_numbers) as (figure, axes):
        for shade in np.unique(shade_CC[off_diagonal_CC]):
            cells = np.argwhere(off_diagonal_CC & (shade_CC == shade))
            face = cell_colour((float(shade) + 1) / 2)
            draw_cells(axes, cells, face=face, edge=PAPER, linewidth=1.2)
        framed = np.argwhere(is_different_CC & off_diagonal_CC)
        draw_cells(axes, framed, face="none", edge=INK, side=0.86, linewidth=1.2)
        if has_numbers:
            gaps = {
                cell: f"{gap:.1f}".replace("-", "−")
                for cell, gap in np.ndenumerate(gaps_CC)
                if off_diagonal_CC[cell]
            }
            write_in_cells(axes, gaps, (shade_CC + 1) / 2, font_size=FONT_SIZE - 2)
        return inline_svg(
            figure,
            name=name,
            title="Mean gap of each pair of competitors",
            description=f"{num} rows and columns of competitors, best first; the brighter a cell,"
            f" the further its row is ahead of its column, at most {largest:.2f} points. Framed"
            " pairs differ significantly by the primary test. The gaps are in the table after the"
            " figure.",
        )
