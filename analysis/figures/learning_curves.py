"""Validation score by epoch in one block: a line and a band over seeds for each loss."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.ticker import MaxNLocator

from analysis.figures.series import Series
from analysis.figures.style import axes_at, drawing, label_axes
from analysis.figures.svg import inline_svg


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningCurve:
    """Mean, lowest and highest of the seeds at each epoch, in percent."""

    series: Series
    epochs: tuple[int, ...]
    means: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]


def draw_learning_curves(
    curves: Sequence[LearningCurve],
    *,
    block: str,
    y_range: tuple[float, float],
    metric: str,
    name: str,
) -> Markup:
    """One panel; panels of several blocks share ``y_range`` (percent)."""
    with drawing(340, 230) as figure:
        axes = axes_at(figure, left_px=54, right_px=12, top_px=26, bottom_px=40)
        for curve in curves:
            colour = curve.series.colour
            axes.fill_between(
                curve.epochs, curve.lows, curve.highs, color=colour, alpha=0.2, linewidth=0
            )
            axes.plot(
                curve.epochs,
                curve.means,
                color=colour,
                marker=curve.series.marker,
                markersize=5,
                markevery=max(1, len(curve.epochs) // 8),
            )
        axes.set_ylim(*y_range)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        label_axes(axes, x="Epoch", y=f"Validation {metric}, %", title=block)
        return inline_svg(
            figure,
            name=name,
            title=f"Learning curves of {block}",
            description=f"Validation {metric} by epoch, one line for each loss with the range of"
            " its seeds as a band.",
        )
