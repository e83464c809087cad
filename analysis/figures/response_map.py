"""The score over two hyperparameters: medians of cells, blank where there are few configs.

X and Y cells along the two axes.
"""

from collections.abc import Sequence
from itertools import pairwise

import matplotlib as mpl
import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from analysis.figures.hyperparameter_axis import axis_ticks
from analysis.figures.style import axes_at, drawing
from analysis.figures.svg import Box, draw_boxes, inline_svg
from analysis.hyperparameters.response_curves import ResponseGrid

_WIDTH, _HEIGHT = 356, 280
_LEVELS = 9  # colours that a reader can distinguish, and few enough paths


def draw_response_map(
    cells: ResponseGrid,
    *,
    points: Sequence[tuple[float, float]],
    are_relative: tuple[bool, bool],
    title: str,
    name: str,
) -> Markup:
    """Coloured cells with a scale beside them, and single configs as dots.

    Args:
        cells: median gains in points.
        points: positions (x, y) of the best configs.
        are_relative: whether the ranges of x and y differ between blocks.
        title: title above the map.
        name: name of the figure, unique within the page.
    """
    with drawing(_WIDTH, _HEIGHT) as figure:
        axes = axes_at(figure, left_px=66, right_px=74, top_px=24, bottom_px=46)
        known = cells.medians_YX[np.isfinite(cells.medians_YX)]
        low, high = float(known.min()), float(known.max())
        high = high if high > low else low + 1
        for level, (colour, least, most) in enumerate(_levels(low, high)):
            is_last = level == _LEVELS - 1
            inside_YX = (cells.medians_YX >= least) & (
                (cells.medians_YX <= most) if is_last else (cells.medians_YX < most)
            )
            boxes = _runs(inside_YX, cells)
            draw_boxes(axes, boxes, colour=colour)
        if points:
            axes.plot(
                *zip(*points, strict=True),
                linestyle="none",
                marker="o",
                markersize=4,
                color="#ffffff",
                markeredgecolor="#000000",
                markeredgewidth=0.9,
            )
        for searched, axis, is_relative in zip(
            (cells.x, cells.y), (axes.xaxis, axes.yaxis), are_relative, strict=True
        ):
            ticks, labels = axis_ticks(searched, is_relative=is_relative)
            axis.set_ticks(ticks, labels=labels)
            axis.set_label_text(searched.name)
        axes.set_xlim(cells.x_edges[0], cells.x_edges[-1])
        axes.set_ylim(cells.y_edges[0], cells.y_edges[-1])
        axes.grid(visible=False)
        axes.tick_params(left=False, bottom=False)
        axes.set_title(title, loc="left", fontweight="bold")
        scale = axes_at(figure, left_px=296, right_px=46, top_px=24, bottom_px=46)
        for colour, least, most in _levels(low, high):
            draw_boxes(scale, [(0.0, 1.0, least, most)], colour=colour)
        scale.set_xlim(0, 1)
        scale.set_xticks([])
        scale.set_ylim(low, high)
        scale.yaxis.tick_right()
        scale.grid(visible=False)
        scale.tick_params(right=False)
        return inline_svg(
            figure,
            name=name,
            title=f"Score of {title} over {cells.x.name} and {cells.y.name}",
            description="Cells are coloured by the median gain over the median config, brighter is"
            " better; blank cells hold fewer than 3 configs. Dots are the best configs. The"
            " numbers are in the table after the figure.",
        )


def _levels(low: float, high: float) -> list[tuple[str, float, float]]:
    """Colours from dark to bright, each with the range of gains it shows."""
    shades = mpl.colormaps["cividis"](np.linspace(0, 1, _LEVELS))
    ends = pairwise(np.linspace(low, high, _LEVELS + 1).tolist())
    return [
        (mpl.colors.to_hex(shade), least, most)
        for shade, (least, most) in zip(shades, ends, strict=True)
    ]


def _runs(inside_YX: NDArray[np.bool_], cells: ResponseGrid) -> list[Box]:
    """Neighbouring cells of a row in one box."""
    edges_YX = np.diff(np.pad(inside_YX, ((0, 0), (1, 1))).astype(int), axis=1)
    return [
        (
            float(cells.x_edges[first]),
            float(cells.x_edges[last]),
            float(cells.y_edges[row]),
            float(cells.y_edges[row + 1]),
        )
        for row, edges in enumerate(edges_YX)
        for first, last in zip(
            np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True
        )
    ]
