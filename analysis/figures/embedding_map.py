"""A two-dimensional map of test embeddings, each class with its own marker and colour.

N images.
"""

from collections.abc import Mapping

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from analysis.figures.series import Series
from analysis.figures.style import INK, axes_at, drawing, fitted_size
from analysis.figures.svg import inline_svg

_MARGIN = 0.06


def draw_embedding_map(
    positions_N2: NDArray[np.float64],
    classes_N: NDArray[np.int64],
    looks: Mapping[int, Series],
    *,
    title: str,
    below: str,
    name: str,
) -> Markup:
    """One square panel without axes, which would mean nothing.

    Args:
        positions_N2: coordinates on the map, in any unit.
        classes_N: class of each image.
        looks: marker and colour of each class.
        title: title of the panel.
        below: a line under the panel.
        name: name of the figure, unique within the page.
    """
    shown_N2 = _in_unit_square(positions_N2)
    with drawing(230, 264) as figure:
        axes = axes_at(figure, left_px=4, right_px=4, top_px=22, bottom_px=20)
        for number, look in sorted(looks.items()):
            of_class_M2 = shown_N2[classes_N == number]
            axes.plot(
                of_class_M2[:, 0],
                of_class_M2[:, 1],
                linestyle="none",
                marker=look.marker,
                markersize=4.5,
                color=look.colour,
                markeredgewidth=0.5,
            )
        axes.set_xlim(-_MARGIN, 1 + _MARGIN)
        axes.set_ylim(-_MARGIN, 1 + _MARGIN)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set(visible=True, edgecolor=INK, alpha=0.3)
        axes.set_xlabel(below, fontsize=11, labelpad=4)
        axes.set_title(title, loc="left", fontweight="bold", fontsize=fitted_size(title, 222))
        return inline_svg(
            figure,
            name=name,
            title=f"Map of the embeddings of {title}",
            description=f"{len(positions_N2)} test images of {len(looks)} classes on a map that"
            f" keeps near neighbours together. {below}.",
        )


def _in_unit_square(positions_N2: NDArray[np.float64]) -> NDArray[np.float64]:
    """Moved and scaled without distortion; three digits, of which one is a quarter of a pixel."""
    low_2, high_2 = positions_N2.min(axis=0), positions_N2.max(axis=0)
    size = float((high_2 - low_2).max()) or 1.0
    moved_N2: NDArray[np.float64] = (positions_N2 - (low_2 + high_2) / 2) / size + 0.5
    return moved_N2.round(3)
