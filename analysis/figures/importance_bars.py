"""Importances of the hyperparameters of one loss, with their intervals and the noise level."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.colors import to_rgba

from analysis.figures.estimate import Estimate, name_rows
from analysis.figures.series import Series
from analysis.figures.style import INK, axes_at, drawing, width_beside
from analysis.figures.svg import inline_svg

_WIDTH = 356
_LINE = 24
_LETTER = 6.9  # pixels
_MARGINS = {"right_px": 14.0, "top_px": 24.0, "bottom_px": 42.0}
_THICK = 0.56


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportanceBar:
    """The importance of one hyperparameter, a share of variance from 0 to 1.

    Attributes:
        hyperparameter: name of the hyperparameter.
        estimate: importance with its interval.
        noise: importance that shuffled scores reach.
        is_above_noise: whether the bar is filled.
    """

    hyperparameter: str
    estimate: Estimate
    noise: float
    is_above_noise: bool


def draw_importances(
    bars: Sequence[ImportanceBar], *, reach: float, series: Series, axis: str, name: str
) -> Markup:
    """One line a hyperparameter: bar, interval, and a dashed mark where noise ends.

    Args:
        bars: bars of the loss, most important first; at least one.
        reach: upper end of the x axis, the same for all losses.
        series: look of the loss.
        axis: label of the x axis: what the importances are.
        name: name of the figure, unique within the page.
    """
    longest = max(len(bar.hyperparameter) for bar in bars)
    left = 14 + _LETTER * longest
    width = width_beside(left, usual_px=_WIDTH, right_px=_MARGINS["right_px"])
    with drawing(width, len(bars) * _LINE + _MARGINS["top_px"] + _MARGINS["bottom_px"]) as figure:
        axes = axes_at(figure, left_px=left, **_MARGINS)
        for y, bar in enumerate(bars):
            axes.barh(
                y,
                bar.estimate.value,
                height=_THICK,
                # Pale enough for the interval to be seen on it, in light and dark.
                facecolor=to_rgba(series.colour, 0.5) if bar.is_above_noise else "none",
                edgecolor=series.colour,
                linewidth=1.2,
            )
            if bar.estimate.low is not None and bar.estimate.high is not None:
                ends = [bar.estimate.low, bar.estimate.high]
                axes.plot(ends, [y, y], color=INK, linewidth=1.2)
            edges = [y - 0.5 + 0.06, y + 0.5 - 0.06]
            axes.plot([bar.noise, bar.noise], edges, color=INK, linewidth=1.4, dashes=(2.2, 1.6))
        name_rows(axes, [bar.hyperparameter for bar in bars])
        axes.set_xlim(0, reach)
        axes.set_xlabel(axis)
        axes.tick_params(bottom=False)
        axes.locator_params(axis="x", nbins=5)
        axes.set_title(series.name, loc="left", fontweight="bold")
        return inline_svg(
            figure,
            name=name,
            title=f"Importance of the hyperparameters of {series.name}",
            description="One bar for each hyperparameter, filled if it is above noise; a line is"
            " its interval, a dashed mark the level of noise. The numbers are in the table after"
            " the figure.",
        )
