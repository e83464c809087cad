"""How figures look: one colour and marker per competitor, ink that follows the page's theme."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.markers import MarkerStyle

INK = "#010203"
"""Placeholder of the page's text colour; `analysis.figures.svg` makes it currentColor."""

PAPER = "#fdfcfb"
"""Placeholder of the page's background; becomes the CSS variable ``--paper``."""

FONT_SIZE = 12
"""Size in CSS pixels: figures are drawn at 72 dots per inch and shown at one dot per pixel."""

_LEAST_FONT_SIZE = 7.0
_LETTER_WIDTH = 0.66
_LEAST_AXES = 200.0  # pixels

# Okabe & Ito, Color Universal Design (2008). Black is the ink; yellow, faint on paper, comes last.
SERIES_COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#e69f00",
    "#8c6d46",
    "#f0e442",
)

# One more than there are colours, so that 72 competitors get 72 different pairs.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "*")

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The look of one competitor, the same in every figure and table of a page.

    Attributes:
        name: name of the competitor.
        colour: colour as drawn by matplotlib; becomes ``css_colour`` in the page.
        marker: a matplotlib marker.
    """

    name: str
    colour: str
    marker: str

    @property
    def css_colour(self) -> str:
        """The colour in the page: lighter where the page is dark."""
        return f"var(--series-{SERIES_COLOURS.index(self.colour)})"

    @property
    def key(self) -> str:
        """The id of its marker in the page."""
        return f"key-{SERIES_COLOURS.index(self.colour)}-{_MARKERS.index(self.marker)}"

    @property
    def marker_points(self) -> str:
        """The marker's outline as SVG polygon points within a 12 x 12 box."""
        style = MarkerStyle(self.marker)
        outline = style.get_path().transformed(style.get_transform())
        corners = np.asarray(outline.to_polygons(closed_only=True)[0])
        scale = 5 / np.abs(corners).max()
        return " ".join(f"{6 + x * scale:.1f},{6 - y * scale:.1f}" for x, y in corners)


def series_of(names: Sequence[str]) -> dict[str, Series]:
    """A look for each name, given by alphabetical order and so independent of the ranking."""
    return {
        name: Series(
            name=name,
            colour=SERIES_COLOURS[i % len(SERIES_COLOURS)],
            marker=_MARKERS[i % len(_MARKERS)],
        )
        for i, name in enumerate(sorted(set(names)))
    }


def every_look() -> tuple[Series, ...]:
    """Every colour with every marker, without names."""
    return tuple(
        Series(name="", colour=colour, marker=marker)
        for colour in SERIES_COLOURS
        for marker in _MARKERS
    )


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
