"""Scores of the folds of a cross-validation as dots, with their mean and standard deviation."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from analysis.figures.estimate import Estimate, draw_estimate, name_group, name_lines
from analysis.figures.series import Series
from analysis.figures.style import axes_at, drawing, width_beside
from analysis.figures.svg import inline_svg

_WIDTH = 400
_LINE = 26
_CHARACTER = 6.6  # width of a letter of a line's name
_MARGINS = {"right_px": 14.0, "top_px": 4.0, "bottom_px": 40.0}
_GAP = 1.0  # lines for the name of a group
_SHIFT = 0.18  # of a line: dots above, their mean below


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldLine:
    """The folds of one loss and config.

    Attributes:
        name: label of the line.
        series: look of the loss.
        scores: score of each fold.
        summary: their mean, from one standard deviation below it to one above.
        is_filled: False for hollow marks.
    """

    name: str
    series: Series
    scores: tuple[float, ...]
    summary: Estimate
    is_filled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldGroup:
    """Lines under the name of their block, which may be empty."""

    name: str
    lines: tuple[FoldLine, ...]


def draw_fold_dots(
    groups: Sequence[FoldGroup], *, axis: str, name: str, title: str, description: str
) -> Markup:
    """Each group's name above its lines, each line's folds above their mean.

    Args:
        groups: groups from the top; of a line without scores there is only the name.
        axis: label of the x axis: what the scores are.
        name: name of the figure, unique within the page.
        title: text read out as the figure's name.
        description: text read out after the title.
    """
    heads = [_GAP if group.name else 0.0 for group in groups]
    rows = sum(heads) + sum(len(group.lines) for group in groups)
    longest = max((len(line.name) for group in groups for line in group.lines), default=0)
    left = 14 + _CHARACTER * longest
    width = width_beside(left, usual_px=_WIDTH, right_px=_MARGINS["right_px"])
    height = rows * _LINE + _MARGINS["top_px"] + _MARGINS["bottom_px"]
    with drawing(width, height) as figure:
        axes = axes_at(figure, left_px=left, **_MARGINS)
        top, ticks, labels = 0.0, [], []
        for group, head in zip(groups, heads, strict=True):
            if group.name:
                name_group(axes, top, group.name)
            top += head
            for line in group.lines:
                ticks.append(top)
                labels.append(line.name)
                if line.scores:
                    axes.plot(
                        line.scores,
                        [top - _SHIFT] * len(line.scores),
                        marker="o",
                        markersize=4.5,
                        color=line.series.colour,
                        markerfacecolor=line.series.colour if line.is_filled else "none",
                        alpha=0.6,
                        linestyle="none",
                    )
                    summary_y = top + _SHIFT
                    draw_estimate(
                        axes, summary_y, line.summary, line.series, is_filled=line.is_filled
                    )
                top += 1
        name_lines(axes, ticks, labels, end=top)
        axes.set_xlabel(axis)
        return inline_svg(figure, name=name, title=title, description=description)
