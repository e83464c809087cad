"""A value with its interval: the dot and the line that several figures draw."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from analysis.figures.series import Series
from analysis.figures.style import PAPER


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value and, where one can be given, the interval around it."""

    value: float
    low: float | None = None
    high: float | None = None


def draw_estimate(
    axes: Axes, y: float, estimate: Estimate, series: Series, *, is_filled: bool
) -> None:
    """The interval as a line at height ``y``, and the value as the series' marker on it."""
    if estimate.low is not None and estimate.high is not None:
        axes.plot(
            [estimate.low, estimate.high], [y, y], color=series.colour, solid_capstyle="butt"
        )
    axes.plot(
        [estimate.value],
        [y],
        marker=series.marker,
        color=series.colour,
        markerfacecolor=series.colour if is_filled else PAPER,
        markeredgewidth=1.6,
        linestyle="none",
    )


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Rows 0, 1, ... from the top, each with its name at the left."""
    name_lines(axes, range(len(names)), names, end=len(names))


def name_lines(axes: Axes, heights: Sequence[float], names: Sequence[str], *, end: float) -> None:
    """Lines at these heights, counted from the top, each with its name at the left.

    Args:
        axes: axes of the lines.
        heights: heights of the lines, from 0.
        names: names of the lines.
        end: height below the last line.
    """
    axes.set_ylim(end - 0.5, -0.5)
    axes.set_yticks(heights, names)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


def name_group(axes: Axes, y: float, name: str) -> None:
    """The name of the rows below height ``y``, inside the axes at their left edge."""
    axes.annotate(
        name,
        (0, y),
        xytext=(6, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="center",
        fontweight="bold",
    )
