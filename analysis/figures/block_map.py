"""The frame of maps of blocks x competitors: rows of blocks, slanted names above the columns."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import cos, radians, sin

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.style import axes_at, drawing

__all__ = ["MOST_WIDE", "block_map"]

MOST_WIDE = 24
"""Competitors; a map of more does not fit a page unless its columns are narrow."""

_LETTER = 6.6  # px, of the ticks' labels
_ROW = 20
_WIDE, _NARROW = 34, 16
_SLANT = 50  # degrees; names above narrow columns stand upright


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
        blocks: labels, from the top.
        competitors: names, from the left.
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
