"""Scores against the search budget spent on them: a line and a band for each loss."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from analysis.figures.series import Series
from analysis.figures.style import axes_at, drawing, label_axes
from analysis.figures.svg import inline_svg


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLine:
    """One loss; a band is drawn where both its ends are known.

    Attributes:
        series: look of the loss.
        spent: budgets, ascending, in the unit of the x axis.
        means: mean score at each budget, in points.
        further: the same by another estimator, drawn dotted; empty without one.
        lows: lower ends of the band, None where unknown; empty without a band.
        highs: upper ends of the band.
    """

    series: Series
    spent: tuple[float, ...]
    means: tuple[float, ...]
    further: tuple[float, ...] = ()
    lows: tuple[float | None, ...] = ()
    highs: tuple[float | None, ...] = ()


def draw_budget_lines(
    lines: Sequence[BudgetLine],
    *,
    heading: str,
    x_label: str,
    y_range: tuple[float, float],
    is_counted: bool,
    name: str,
) -> Markup:
    """One panel of scores in points, centred in each block.

    Args:
        lines: a line for each loss.
        heading: title above the panel: what the scores are.
        x_label: what is spent.
        y_range: lower and upper end of the y axis.
        is_counted: whether what is spent is counted in whole numbers.
        name: name of the figure, unique within the page.
    """
    with drawing(340, 230) as figure:
        axes = axes_at(figure, left_px=58, right_px=12, top_px=26, bottom_px=40)
        for line in lines:
            _draw(axes, line)
        axes.set_ylim(*y_range)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=is_counted))
        label_axes(axes, x=x_label, y="Points", title=heading)
        return inline_svg(
            figure,
            name=name,
            title=f"Points against {x_label}",
            description=f"{heading} by {x_label.lower()}, one line for each loss, centred in each"
            " block.",
        )


def _draw(axes: Axes, line: BudgetLine) -> None:
    colour = line.series.colour
    band = [
        (x, low, high)
        for x, low, high in zip(line.spent, line.lows, line.highs, strict=False)
        if low is not None and high is not None
    ]
    if band:
        axes.fill_between(
            [x for x, _, _ in band],
            [low for _, low, _ in band],
            [high for _, _, high in band],
            color=colour,
            alpha=0.15,
            linewidth=0,
        )
    if line.further:
        axes.plot(line.spent, line.further, color=colour, linewidth=1.2, linestyle=(0, (1, 2)))
    axes.plot(
        line.spent,
        line.means,
        color=colour,
        marker=line.series.marker,
        markersize=5,
        markevery=max(1, len(line.spent) // 6),
    )
