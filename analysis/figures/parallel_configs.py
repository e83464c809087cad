"""Parallel coordinates: configs as lines across their hyperparameters, the best quarter in colour.

N configs, P hyperparameters, M configs of one kind.
"""

from collections.abc import Mapping

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from analysis.figures.series import Series
from analysis.figures.style import INK, axes_at, drawing, fitted_size
from analysis.figures.svg import inline_svg
from analysis.hyperparameters.searched_ranges import SearchedRange, value_text

_HEIGHT = 240
_AXIS = 92  # pixels between axes
_NAME = 14
_LETTER = 6.6  # pixels of a bold letter


def draw_parallel(
    ranges: Mapping[str, SearchedRange],
    heights_NP: NDArray[np.float64],
    is_good_N: NDArray[np.bool_],
    *,
    series: Series,
    name: str,
) -> Markup:
    """One line a config; a gap where a hyperparameter does not exist in it.

    Args:
        ranges: range of each hyperparameter by name, an axis each, from the left.
        heights_NP: where each config crosses each axis, 0 to 1; NaN for nowhere.
        is_good_N: which configs are drawn in colour, above the others.
        series: look of the loss.
        name: name of the figure, unique within the page.
    """
    num = len(ranges)
    first, *_, last = [*ranges, *ranges]
    left, right = (max(40.0, 4 + _LETTER * len(label) / 2) for label in (first, last))
    with drawing(left + _AXIS * (num - 1) + right, _HEIGHT) as figure:
        axes = axes_at(figure, left_px=left, right_px=right, top_px=40, bottom_px=40)
        axes.set_axis_off()
        for is_good, colour, alpha, width in (
            (False, INK, 0.22, 0.7),
            (True, series.colour, 0.8, 1.2),
        ):
            lines_MP = heights_NP[is_good_N == is_good]
            # One path for all lines of a kind: gaps separate them.
            gaps_M1 = np.full((len(lines_MP), 1), np.nan)
            xs = np.tile(np.arange(num + 1.0), len(lines_MP))
            ys = np.hstack([lines_MP, gaps_M1]).ravel()
            axes.plot(xs, ys, color=colour, alpha=alpha, linewidth=width)
        for x, (label, item) in enumerate(ranges.items()):
            axes.plot([x, x], [0, 1], color=INK, linewidth=1)
            ends = (item.values[0], item.values[-1]) if item.is_choice else (item.low, item.high)
            texts = (value_text(ends[0]), value_text(ends[1]), label)
            for text, y, shift, weight in zip(
                texts, (0, 1, 1), (-9, 9, 9 + _NAME), ("normal", "normal", "bold"), strict=True
            ):
                axes.annotate(
                    text,
                    (x, y),
                    xytext=(0, shift),
                    textcoords="offset points",
                    ha="center",
                    va="center",
                    fontweight=weight,
                    fontsize=10 if text != label else fitted_size(label, _AXIS - 4, most=10),
                )
        axes.set_xlim(0, max(1, num - 1))
        axes.set_ylim(0, 1)
        return inline_svg(
            figure,
            name=name,
            title=f"Configs of {series.name} across their hyperparameters",
            description="One line for each config, coloured if it is among the best quarter of its"
            " search. Where the best lie is in the table after the figure.",
        )
