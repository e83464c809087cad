"""The score along one hyperparameter: medians of bins with their interval, and quartiles."""

from collections.abc import Sequence

from markupsafe import Markup

from analysis.figures.place_axis import place_ticks
from analysis.figures.style import INK, Series, axes_at, drawing
from analysis.figures.svg import inline_svg
from analysis.responses import Response

__all__ = ["draw_response"]

_WIDTH, _HEIGHT = 236, 176


def draw_response(
    found: Response,
    *,
    points: Sequence[tuple[float, float]],
    gain_range: tuple[float, float],
    is_relative: bool,
    series: Series,
    name: str,
) -> Markup:
    """One panel on the hyperparameter's own scale.

    Args:
        found: the bins; where hardly any config lies is a gap.
        points: place and gain of single configs, none if they would be too many.
        gain_range: of the vertical axis, the same in all panels of a loss; points below it are
            not shown.
        is_relative: ranges differ between blocks.
        series: look of the loss.
        name: unique within the page.
    """
    with drawing(_WIDTH, _HEIGHT) as figure:
        axes = axes_at(figure, left_px=44, right_px=10, top_px=24, bottom_px=28)
        axes.axhline(0, color=INK, linewidth=0.8, dashes=(4, 3))
        shown = [point for point in points if gain_range[0] <= point[1] <= gain_range[1]]
        if shown:
            axes.plot(
                *zip(*shown, strict=True),
                linestyle="none",
                marker="o",
                markersize=2.6,
                color=INK,
                alpha=0.35,
                markeredgewidth=0,
            )
        for one in found.bins:
            inset = 0.08 * (one.right - one.left)
            ends = [one.left + inset, one.right - inset]
            axes.fill_between(
                ends, one.first, one.third, color=series.colour, alpha=0.22, linewidth=0
            )
            axes.plot(
                ends,
                [one.median, one.median],
                color=series.colour,
                linewidth=2.4,
                solid_capstyle="butt",
            )
            middle = (one.left + one.right) / 2
            axes.plot([middle, middle], [one.low, one.high], color=INK, linewidth=1.2)
        axes.set_ylim(*gain_range)
        reach = (-0.5, len(found.tried.values) - 0.5) if found.tried.is_choice else (0.0, 1.0)
        axes.set_xlim(reach[0] - 0.03, reach[1] + 0.03)
        axes.set_xticks(*place_ticks(found.tried, is_relative=is_relative))
        axes.set_title(found.tried.name, loc="left")
        return inline_svg(
            figure,
            name=name,
            title=f"Score along {found.tried.name} of {series.name}",
            description="Thick lines are medians of bins in points above the median config, thin"
            " lines their intervals, shaded are quartiles. The numbers are in the table after the"
            " figure.",
        )
