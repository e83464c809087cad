"""The score over two hyperparameters: medians of cells, blank where hardly any config lies."""

from collections.abc import Sequence
from itertools import pairwise

import matplotlib as mpl
import numpy as np
from markupsafe import Markup

from analysis.figures.place_axis import place_ticks
from analysis.figures.style import INK, axes_at, drawing
from analysis.figures.svg import inline_svg
from analysis.responses import Cells

__all__ = ["draw_response_map"]

_WIDTH, _HEIGHT = 356, 280


def draw_response_map(
    cells: Cells,
    *,
    points: Sequence[tuple[float, float]],
    are_relative: tuple[bool, bool],
    title: str,
    name: str,
) -> Markup:
    """Coloured cells with a scale beside them, and single configs as dots.

    Args:
        cells: medians in points.
        points: places of the best configs.
        are_relative: whether the ranges of x and y differ between blocks.
        title: above the map.
        name: unique within the page.
    """
    with drawing(_WIDTH, _HEIGHT) as figure:
        axes = axes_at(figure, left_px=66, right_px=74, top_px=24, bottom_px=46)
        colours = mpl.colormaps["cividis"]
        known = cells.medians_YX[np.isfinite(cells.medians_YX)]
        low, high = float(known.min()), float(known.max())
        high = high if high > low else low + 1
        norm = mpl.colors.Normalize(low, high)
        for row, column in np.argwhere(np.isfinite(cells.medians_YX)):
            axes.fill_between(
                cells.x_edges[column : column + 2],
                cells.y_edges[row],
                cells.y_edges[row + 1],
                color=colours(norm(cells.medians_YX[row, column])),
                linewidth=0,
            )
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
        for tried, place, relative in zip(
            (cells.x, cells.y), (axes.xaxis, axes.yaxis), are_relative, strict=True
        ):
            ticks, labels = place_ticks(tried, is_relative=relative)
            place.set_ticks(ticks, labels=labels)
            place.set_label_text(tried.name)
        axes.set_xlim(cells.x_edges[0], cells.x_edges[-1])
        axes.set_ylim(cells.y_edges[0], cells.y_edges[-1])
        axes.grid(visible=False)
        axes.set_title(title, loc="left", fontweight="bold")
        scale = axes_at(figure, left_px=296, right_px=46, top_px=24, bottom_px=46)
        for first, last in pairwise(np.linspace(low, high, 13)):
            scale.fill_between([0, 1], first, last, color=colours(norm((first + last) / 2)), lw=0)
        scale.set_xticks([])
        scale.set_ylim(low, high)
        scale.yaxis.tick_right()
        scale.grid(visible=False)
        scale.tick_params(color=INK, length=2)
        return inline_svg(
            figure,
            name=name,
            title=f"Score of {title} over {cells.x.name} and {cells.y.name}",
            description="Cells are coloured by the median gain over the median config, brighter is"
            " better; blank cells hold fewer than 3 configs. Dots are the best configs. The"
            " numbers are in the table after the figure.",
        )
