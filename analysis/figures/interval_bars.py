"""Bars from zero with their intervals, in groups below each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes

from analysis.figures.estimate import Estimate, name_group, name_lines
from analysis.figures.series import SERIES_COLOURS, Series
from analysis.figures.style import INK, axes_at, drawing, width_beside
from analysis.figures.svg import inline_svg

_WIDTH = 480
_LINE = 20
_GAP = 1.3  # lines between groups, which hold the group's name
_CHARACTER = 6.6  # width of a letter of a bar's name
_MARGINS = {"right_px": 18.0, "top_px": 4.0, "bottom_px": 40.0}
_REACH = 2.2  # an interval is shown up to so many times the longest bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar.

    Attributes:
        name: label of the bar.
        estimate: length of the bar with its interval; None is drawn as nothing.
        series: look of the bar; None for the first colour.
        is_filled: False for a hollow bar.
    """

    name: str
    estimate: Estimate | None
    series: Series | None = None
    is_filled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class BarGroup:
    """Bars under one name, which may be empty."""

    name: str
    bars: tuple[Bar, ...]


def draw_interval_bars(
    groups: Sequence[BarGroup], *, axis: str, name: str, title: str, description: str
) -> Markup:
    """Bars from zero; the line on a bar is its interval, with an arrow where it extends further.

    Args:
        groups: groups from the top.
        axis: label of the x axis: what the estimates are.
        name: name of the figure, unique within the page.
        title: text read out as the figure's name.
        description: text read out after the title.
    """
    rows = sum(len(group.bars) + (_GAP if group.name else 0) for group in groups)
    height = rows * _LINE + _MARGINS["top_px"] + _MARGINS["bottom_px"]
    longest = max((len(bar.name) for group in groups for bar in group.bars), default=0)
    edge = _edge(groups)
    left = 14 + _CHARACTER * longest
    width = width_beside(left, usual_px=_WIDTH, right_px=_MARGINS["right_px"])
    with drawing(width, height) as figure:
        axes = axes_at(figure, left_px=left, **_MARGINS)
        top, ticks, labels = 0.0, [], []
        for group in groups:
            if group.name:
                name_group(axes, top, group.name)
                top += _GAP
            for bar in group.bars:
                _draw_bar(axes, top, bar, edge)
                ticks.append(top)
                labels.append(bar.name)
                top += 1
        name_lines(axes, ticks, labels, end=top)
        axes.axvline(0, color=INK, linewidth=0.8)
        low, high = axes.get_xlim()
        if edge > 0:
            axes.set_xlim(max(low, -1.04 * edge), min(high, 1.04 * edge))
        axes.set_xlabel(axis)
        return inline_svg(figure, name=name, title=title, description=description)


def _edge(groups: Sequence[BarGroup]) -> float:
    """Up to where intervals are drawn: an unknown or huge end would leave no room for the bars."""
    known = [bar.estimate for group in groups for bar in group.bars if bar.estimate]
    longest = max((abs(found.value) for found in known), default=0.0)
    ends = [
        math.inf if found.high is None else found.high for found in known if found.low is not None
    ]
    if longest > 0:
        return min(max([longest, *ends]), _REACH * longest)
    return max((end for end in ends if end < math.inf), default=0.0)


def _draw_bar(axes: Axes, y: float, bar: Bar, edge: float) -> None:
    if bar.estimate is None:
        return
    colour = bar.series.colour if bar.series else SERIES_COLOURS[0]
    axes.barh(
        [y],
        [bar.estimate.value],
        height=0.62,
        color=colour if bar.is_filled else "none",
        edgecolor=colour,
        linewidth=1.2,
        alpha=0.75,
    )
    low, high = bar.estimate.low, bar.estimate.high
    if low is None:
        return
    start, end = max(low, -edge), edge if high is None else min(high, edge)
    axes.plot([start, end], [y, y], color=INK, linewidth=1.4, solid_capstyle="butt")
    is_cut = high is None or high > edge
    for x, marker in ((start, "<" if low < -edge else "|"), (end, ">" if is_cut else "|")):
        axes.plot([x], [y], marker=marker, markersize=6, color=INK, linestyle="none")
