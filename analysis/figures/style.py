"""How figures look: one colour and marker per competitor, ink that follows the page's theme."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

INK = "#010203"
"""Placeholder of the page's text colour; `analysis.figures.svg` makes it currentColor."""

PAPER = "#fdfcfb"
"""Placeholder of the page's background; becomes the CSS variable ``--paper``."""

FONT_SIZE = 12
"""Size in CSS pixels: figures are drawn at 72 dots per inch and shown at one dot per pixel."""

_LEAST_FONT_SIZE = 7.0
_LETTER_WIDTH = 0.66
_LEAST_AXES = 200.0  # pixels

_STYLE: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.labelcolor": INK,
    "axes.labelsize": FONT_SIZE,
    "axes.labelpad": 7,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": FONT_SIZE,
    "axes.titley": 1.0,  # it is there anyway; searching a position takes a tenth of the time
    "axes.unicode_minus": True,
    "font.family": "DejaVu Sans",  # ships with matplotlib: the same measures on every machine
    "font.size": FONT_SIZE,
    "grid.alpha": 0.15,
    "grid.color": INK,
    "grid.linewidth": 0.8,
    "lines.linewidth": 1.6,
    "lines.markersize": 7,
    "path.simplify": False,
    "savefig.transparent": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "podium",
    "text.color": INK,
    "text.parse_math": False,  # a dollar sign in a name is a dollar sign
    "text.usetex": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": FONT_SIZE - 1,
    "ytick.labelsize": FONT_SIZE - 1,
}


@contextmanager
def drawing(width_px: float, height_px: float) -> Iterator[Figure]:
    """An empty figure with podium's settings in force; draw and export it within the block."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width_px / 72, height_px / 72), dpi=72)
        FigureCanvasSVG(figure)
        yield figure


def label_axes(
    axes: Axes, *, x: str, y: str, title: str = "", title_size: float = FONT_SIZE
) -> None:
    """The names of both axes, and the title of the panel in bold at the left above it."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title, loc="left", fontweight="bold", fontsize=title_size)


def fitted_size(text: str, room_px: float, *, most: float = FONT_SIZE) -> float:
    """A font size in pixels at which the text fits; at most ``most``, at least 7.

    Bold letters of the font of figures are some 0.66 of their size wide.
    """
    return max(_LEAST_FONT_SIZE, min(most, room_px / (_LETTER_WIDTH * max(len(text), 1))))


def width_beside(left_px: float, *, usual_px: float, right_px: float) -> float:
    """The width of a figure in pixels: the usual one, or more if its labels leave too little room.

    Args:
        left_px: room at the left of the axes, for labels of rows.
        usual_px: usual width of the figure.
        right_px: room at the right of the axes.
    """
    return max(usual_px, left_px + _LEAST_AXES + right_px)


def axes_at(
    figure: Figure, *, left_px: float, right_px: float, top_px: float, bottom_px: float
) -> Axes:
    """Axes that leave these margins at the figure's edges."""
    width, height = figure.get_size_inches() * 72
    return figure.add_axes(
        (
            left_px / width,
            bottom_px / height,
            (width - left_px - right_px) / width,
            (height - top_px - bottom_px) / height,
        )
    )
