"""Groups of estimates below each other, such as the finalists of each loss or protocol."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from analysis.figures.estimate import Estimate, draw_estimate, name_group, name_lines
from analysis.figures.series import Series
from analysis.figures.style import axes_at, drawing, width_beside
from analysis.figures.svg import inline_svg

_WIDTH = 480
_LINE = 20
_CHARACTER = 6.6  # width of a letter of a line's name
_MARGINS = {"right_px": 14.0, "top_px": 4.0, "bottom_px": 40.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateLine:
    """One line of a group; None is drawn as nothing, an estimate that is not filled is hollow."""

    name: str
    estimate: Estimate | None
    is_filled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateGroup:
    """The estimates of one loss or protocol, in its look."""

    name: str
    series: Series
    lines: tuple[EstimateLine, ...]


def draw_estimate_groups(
    groups: Sequence[EstimateGroup], *, axis: str, name: str, title: str, description: str
) -> Markup:
    """Each group's name above its lines.

    Args:
        groups: groups from the top.
        axis: label of the x axis: what the estimates are.
        name: name of the figure, unique within the page.
        title: text read out as the figure's name.
        description: text read out after the title.
    """
    rows = sum(len(group.lines) + 1.3 for group in groups)
    height = rows * _LINE + _MARGINS["top_px"] + _MARGINS["bottom_px"]
    longest = max((len(line.name) for group in groups for line in group.lines), default=0)
    left = 14 + _CHARACTER * longest
    width = width_beside(left, usual_px=_WIDTH, right_px=_MARGINS["right_px"])
    with drawing(width, height) as figure:
        axes = axes_at(figure, left_px=left, **_MARGINS)
        top, ticks, labels = 0.0, [], []
        for group in groups:
            name_group(axes, top, group.name)
            for position, line in enumerate(group.lines, start=1):
                if line.estimate is not None:
                    y = top + position
                    draw_estimate(axes, y, line.estimate, group.series, is_filled=line.is_filled)
                ticks.append(top + position)
                labels.append(line.name)
            top += len(group.lines) + 1.3
        name_lines(axes, ticks, labels, end=top)
        axes.set_xlabel(axis)
        return inline_svg(figure, name=name, title=title, description=description)
