"""Regret of each protocol against the cost of one of its searches, with the Pareto front."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from analysis.figures.series import Series
from analysis.figures.style import INK, PAPER, axes_at, drawing, label_axes
from analysis.figures.svg import inline_svg

_LABEL_WIDTH = 120  # at most, in pixels
_LINE = 13
_FEW_TIMES = 4  # costs further apart than this are drawn on a logarithmic axis


@dataclass(frozen=True, slots=True, kw_only=True)
class CostPoint:
    """One protocol.

    Attributes:
        label: name of the protocol.
        series: look of the protocol.
        cost: cost of one search, above 0, in the unit of the x axis.
        regret: selection regret on test in points.
        low: lower end of its interval; None without one.
        high: upper end of its interval.
        on_front: whether no protocol is better in both; None, drawn hollow, for one that leaks,
            which is never on the front.
    """

    label: str
    series: Series
    cost: float
    regret: float
    low: float | None
    high: float | None
    on_front: bool | None


def draw_regret_cost(points: Sequence[CostPoint], *, axis: str, name: str) -> Markup:
    """Cost on the x axis, regret on the y axis; the front is a dashed staircase.

    Args:
        points: points of the protocols, at least one.
        axis: label of the x axis: what the costs are.
        name: name of the figure, unique within the page.
    """
    with drawing(480, 340) as figure:
        axes = axes_at(figure, left_px=54, right_px=90, top_px=16, bottom_px=44)
        costs = [point.cost for point in points]
        if max(costs) > _FEW_TIMES * min(costs):
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda cost, _: f"{cost:g}"))
            axes.xaxis.set_minor_locator(NullLocator())
        front = sorted((p.cost, p.regret) for p in points if p.on_front)
        axes.step(
            [cost for cost, _ in front],
            [regret for _, regret in front],
            where="post",
            color=INK,
            linewidth=1,
            dashes=(4, 3),
        )
        for point in points:
            colour = point.series.colour
            if point.low is not None and point.high is not None:
                axes.plot([point.cost] * 2, [point.low, point.high], color=colour)
            axes.plot(
                [point.cost],
                [point.regret],
                linestyle="none",
                marker=point.series.marker,
                markersize=7,
                color=colour,
                markerfacecolor=PAPER if point.on_front is None else colour,
                markeredgewidth=1.6,
                zorder=4,
            )
        axes.axhline(0, color=INK, linewidth=0.6)
        axes.margins(x=0.08, y=0.1)
        for point, rise in zip(points, _rises(axes, points), strict=True):
            axes.annotate(
                point.label,
                (point.cost, point.regret),
                xytext=(8, rise),
                textcoords="offset pixels",
                bbox={"facecolor": PAPER, "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
            )
        label_axes(axes, x=axis, y="Selection regret on test, points")
        return inline_svg(
            figure,
            name=name,
            title="Regret against cost",
            description="One point for each protocol: the cost of a search against the regret"
            " of its pick on test. A dashed staircase joins the protocols that none beats in both."
            " Hollow points leak. The numbers are in the table after the figure.",
        )


def _rises(axes: Axes, points: Sequence[CostPoint]) -> list[float]:
    """How far above its point each label is written, in pixels, so that none covers another."""
    pixels = [axes.transData.transform((point.cost, point.regret)) for point in points]
    heights: dict[int, float] = {}
    for index in sorted(range(len(points)), key=lambda index: float(pixels[index][1])):
        x, height = float(pixels[index][0]), float(pixels[index][1]) + 5
        for other in sorted(heights, key=heights.__getitem__):
            is_beside = abs(float(pixels[other][0]) - x) < _LABEL_WIDTH
            if is_beside and abs(heights[other] - height) < _LINE:
                height = heights[other] + _LINE
        heights[index] = height
    return [heights[index] - float(pixel[1]) for index, pixel in enumerate(pixels)]
