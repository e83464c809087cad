"""Critical-difference diagram (Demšar 2006, figure 1), best at the left."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup
from matplotlib.axes import Axes

from analysis.figures.series import Series
from analysis.figures.style import FONT_SIZE, INK, axes_at, drawing
from analysis.figures.svg import inline_svg

_AXIS_WIDTH = 440
_LEAST_TICK = 24  # px between numbers on the axis
_MOST_GROUPS = 12  # drawn of each test
_NAME_LINE = 22
_CLIQUE_LINE = 11
_CLIQUE_GAP = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Cliques:
    """The groups within which one test finds no pair significantly different.

    Members of a group need not be neighbours by rank.

    Attributes:
        test: name of the test.
        groups: names of the members of each group.
    """

    test: str
    groups: tuple[tuple[str, ...], ...]


def draw_critical_difference(
    average_ranks: Sequence[tuple[Series, float]],
    *,
    critical_difference: float,
    cliques: Sequence[Cliques],
    name: str,
) -> Markup:
    """The rank axis with its competitors, the CD as a bar above, the groups of each test below.

    A group is a line with a dot at each member; where a competitor between two members does not
    belong to the group, the line is dotted, so that it never looks like a member. Of more than 12
    groups of a test the first are drawn, and the rest counted.

    Args:
        average_ranks: look and average rank of each competitor.
        critical_difference: Nemenyi's critical difference of average ranks.
        cliques: groups of each test, drawn in this order.
        name: name of the figure, unique within the page.
    """
    ordered = sorted(average_ranks, key=lambda pair: (pair[1], pair[0].name))
    depth = sum(_CLIQUE_GAP + _CLIQUE_LINE * max(1, _lines(test)) for test in cliques)
    names_height = _NAME_LINE * ((len(ordered) + 1) // 2)
    height = 62 + depth + 14 + names_height
    side = 12 + 7.2 * max(len(series.name) + 5 for series, _ in ordered)
    with drawing(_AXIS_WIDTH + 2 * side, height) as figure:
        axes = axes_at(figure, left_px=side, right_px=side, top_px=0, bottom_px=0)
        axes.axis("off")
        axes.set_xlim(1, max(2, len(ordered)))
        axes.set_ylim(height, 0)
        _draw_axis(axes, len(ordered), critical_difference)
        _draw_cliques(axes, {s.name: rank for s, rank in ordered}, cliques)
        _draw_names(axes, ordered, top=62 + depth + 20)
        return inline_svg(
            figure,
            name=name,
            title="Critical-difference diagram",
            description=_description(ordered, critical_difference, cliques),
        )


def _draw_axis(axes: Axes, num_competitors: int, critical_difference: float) -> None:
    last = max(2, num_competitors)
    axes.plot([1, last], [54, 54], color=INK, linewidth=1, clip_on=False)
    step = math.ceil(_LEAST_TICK * (last - 1) / _AXIS_WIDTH)
    for rank in range(1, last + 1):
        axes.plot([rank, rank], [48, 54], color=INK, linewidth=1, clip_on=False)
        if (rank - 1) % step == 0:
            axes.text(rank, 44, str(rank), ha="center", va="bottom")
    # A CD wider than the axis is drawn to the axis' end, open at the right.
    end = 1 + critical_difference
    is_cut = end > last
    end = min(end, last)
    y = 22 if is_cut else 16
    axes.plot([1, end], [y, y], color=INK, linewidth=1.6, clip_on=False)
    for edge in [1] if is_cut else [1, end]:
        axes.plot([edge, edge], [y - 5, y + 5], color=INK, linewidth=1.6, clip_on=False)
    # Beside the bar there is only the room of the longest name, so a long text is above it.
    axes.annotate(
        f"CD = {critical_difference:.2f}" + (", wider than the axis" if is_cut else ""),
        (1 if is_cut else end, y),
        xytext=(8, -4) if is_cut else (8, 0),
        textcoords="offset points",
        va="bottom" if is_cut else "center",
        annotation_clip=False,
    )


def _draw_cliques(axes: Axes, ranks: dict[str, float], cliques: Sequence[Cliques]) -> None:
    order = sorted(ranks, key=lambda name: (ranks[name], name))
    y = 62.0
    for test in cliques:
        y += _CLIQUE_GAP
        axes.annotate(
            test.test if test.groups else f"{test.test}: all differ",
            (0, y),
            xytext=(-12, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=FONT_SIZE - 1,
            annotation_clip=False,
        )
        for group in test.groups[:_MOST_GROUPS]:
            _draw_group(axes, y, group, order, ranks)
            y += _CLIQUE_LINE
        if len(test.groups) > _MOST_GROUPS:
            more = f"{len(test.groups) - _MOST_GROUPS} more groups of {test.test}"
            axes.text(1, y, more, va="center", fontsize=FONT_SIZE - 1)
            y += _CLIQUE_LINE
        y += 0 if test.groups else _CLIQUE_LINE


def _lines(test: Cliques) -> int:
    return min(len(test.groups), _MOST_GROUPS + 1)


def _draw_group(
    axes: Axes, y: float, group: Sequence[str], order: Sequence[str], ranks: dict[str, float]
) -> None:
    positions = sorted(order.index(name) for name in group)
    for left, right in pairwise(positions):
        axes.plot(
            [ranks[order[left]], ranks[order[right]]],
            [y, y],
            color=INK,
            linewidth=3 if right == left + 1 else 1,
            linestyle="-" if right == left + 1 else (0, (1, 2)),
            solid_capstyle="butt",
            clip_on=False,
        )
    members = [ranks[order[position]] for position in positions]
    axes.plot(members, [y] * len(members), "o", color=INK, markersize=6, clip_on=False)


def _draw_names(axes: Axes, ordered: Sequence[tuple[Series, float]], top: float) -> None:
    """Better half to the left, worse half to the right, the outermost name on top."""
    half = (len(ordered) + 1) // 2
    for position, (series, rank) in enumerate(ordered):
        is_left = position < half
        line = position if is_left else len(ordered) - 1 - position
        y = top + _NAME_LINE * line
        x_edge = axes.get_xlim()[0 if is_left else 1]
        axes.plot(
            [rank, rank, x_edge],
            [54, y, y],
            color=series.colour,
            linewidth=1.2,
            alpha=0.7,
            clip_on=False,
            zorder=1,
        )
        axes.plot([rank], [54], marker=series.marker, color=series.colour, clip_on=False, zorder=3)
        axes.annotate(
            f"{series.name} {rank:.2f}" if is_left else f"{rank:.2f} {series.name}",
            (x_edge, y),
            xytext=(-8 if is_left else 8, 0),
            textcoords="offset points",
            ha="right" if is_left else "left",
            va="center",
            annotation_clip=False,
        )


def _description(
    ordered: Sequence[tuple[Series, float]], critical_difference: float, cliques: Sequence[Cliques]
) -> str:
    ranks = ", ".join(f"{series.name} {rank:.2f}" for series, rank in ordered)
    groups = " ".join(
        f"Not significantly different by {test.test}: "
        + ("; ".join(" and ".join(group) for group in test.groups) or "none")
        + "."
        for test in cliques
    )
    return f"Average ranks, best first: {ranks}. CD {critical_difference:.2f}. {groups}"
