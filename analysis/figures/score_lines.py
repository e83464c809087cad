"""Scores over a factor of the blocks, such as the embedding dimension: a line for each loss.

L levels of the factor.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from analysis.figures.series import Series
from analysis.figures.style import FONT_SIZE, axes_at, drawing, fitted_size, label_axes
from analysis.figures.svg import inline_svg

_ROOM_PX = 270  # for a title, or for all labels of the axis
_SPREAD = 0.36  # of the least distance of levels: lines with error bars are shifted by it


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One level of the factor: its position on the x axis and its label."""

    position: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreLine:
    """Mean and sample standard deviation at each level; None without a score, or with one run."""

    series: Series
    scores: tuple[float | None, ...]
    stds: tuple[float | None, ...]


def draw_score_lines(
    lines: Sequence[ScoreLine],
    levels: Sequence[Level],
    *,
    title: str,
    x_label: str,
    y_label: str,
    y_range: tuple[float, float],
    name: str,
) -> Markup:
    """One panel; a missing score leaves a gap in its line.

    Where any line has standard deviations they are bars, and the lines are moved a little to the
    side, so that bars do not hide each other.

    Args:
        lines: a line for each loss, with a score for each level.
        levels: levels of the factor, from the left.
        title: title of the panel.
        x_label: name of the factor.
        y_label: what the scores are.
        y_range: lower and upper end of the y axis.
        name: name of the figure, unique within the page.
    """
    positions_L = np.array([level.position for level in levels])
    shifts = _shifts(lines, positions_L)
    with drawing(340, 260) as figure:
        axes = axes_at(figure, left_px=62, right_px=12, top_px=26, bottom_px=44)
        for line, shift in zip(lines, shifts, strict=True):
            scores_L = _floats(line.scores)
            stds_L = _floats(line.stds)
            axes.plot(
                positions_L + shift,
                scores_L,
                color=line.series.colour,
                marker=line.series.marker,
                markersize=6,
                linewidth=1.2,
            )
            axes.vlines(
                (positions_L + shift)[~np.isnan(stds_L)],
                (scores_L - stds_L)[~np.isnan(stds_L)],
                (scores_L + stds_L)[~np.isnan(stds_L)],
                color=line.series.colour,
                linewidth=1,
            )
        axes.set_xticks(positions_L, [level.label for level in levels])
        axes.tick_params(axis="x", labelsize=_tick_size(levels))
        axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
        axes.set_xlim(_x_range(positions_L))
        axes.set_ylim(*y_range)
        label_axes(
            axes, x=x_label, y=y_label, title=title, title_size=fitted_size(title, _ROOM_PX)
        )
        return inline_svg(
            figure,
            name=name,
            title=title,
            description=f"{y_label} by {x_label.lower()}, one line for each loss. The numbers are"
            " in the table after the figure.",
        )


def _tick_size(levels: Sequence[Level]) -> float:
    longest = max((level.label for level in levels), key=len)
    return fitted_size(longest, _ROOM_PX / len(levels), most=FONT_SIZE - 1)


def _floats(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def _least_gap(positions_L: NDArray[np.float64]) -> float:
    return float(np.diff(np.sort(positions_L)).min()) if len(positions_L) > 1 else 1.0


def _x_range(positions_L: NDArray[np.float64]) -> tuple[float, float]:
    room = 0.35 * _least_gap(positions_L)
    return float(positions_L.min()) - room, float(positions_L.max()) + room


def _shifts(lines: Sequence[ScoreLine], positions_L: NDArray[np.float64]) -> list[float]:
    if len(lines) < 2 or all(std is None for line in lines for std in line.stds):
        return [0.0] * len(lines)
    half = _SPREAD / 2 * _least_gap(positions_L)
    return [float(shift) for shift in np.linspace(-half, half, len(lines))]
