"""The score along one hyperparameter: medians of bins with their interval, and quartiles."""

from collections.abc import Sequence

from markupsafe import Markup

from analysis.figures.hyperparameter_axis import axis_ticks
from analysis.figures.series import Series
from analysis.figures.style import INK, axes_at, drawing
from analysis.figures.svg import Box, draw_boxes, draw_dashes, inline_svg
from analysis.hyperparameters.response_curves import ResponseCurve

_WIDTH, _HEIGHT = 236, 176


def draw_response(
    found: ResponseCurve,
    *,
    points: Sequence[tuple[float, float]],
    gain_range: tuple[float, float],
    is_relative: bool,
    series: Series,
    name: str,
) -> Markup:
    """One panel on the hyperparameter's own scale.

    Args:
        found: bins of the hyperparameter; those of few configs are missing and leave gaps.
        points: position and gain of single configs; empty if they would be too many.
        gain_range: ends of the y axis, the same in all panels of a loss; points below it are
            not shown.
        is_relative: whether the range of the hyperparameter differs between blocks.
        series: look of the loss.
        name: name of the figure, unique within the page.
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
        boxes: list[Box] = []
        medians: list[Box] = []
        intervals: list[Box] = []
        for one in found.bins:
            inset = 0.08 * (one.right - one.left)
            left, right = one.left + inset, one.right - inset
            middle = (one.left + one.right) / 2
            boxes.append((left, right, one.first, one.third))
            medians.append((left, right, one.median, one.median))
            intervals.append((middle, middle, one.low, one.high))
        draw_boxes(axes, boxes, colour=series.colour, alpha=0.22)
        draw_dashes(axes, medians, colour=series.colour, width=2.4)
        draw_dashes(axes, intervals, colour=INK, width=1.2)
        axes.set_ylim(*gain_range)
        reach = (
            (-0.5, len(found.searched.values) - 0.5) if found.searched.is_choice else (0.0, 1.0)
        )
        axes.set_xlim(reach[0] - 0.03, reach[1] + 0.03)
        axes.locator_params(axis="y", nbins=4)
        axes.set_xticks(*axis_ticks(found.searched, is_relative=is_relative, most=3))
        axes.tick_params(left=False, bottom=False)
        axes.set_title(found.searched.name, loc="left")
        return inline_svg(
            figure,
            name=name,
            title=f"Score along {found.searched.name} of {series.name}",
            description="Thick lines are medians of bins in points above the median config, thin"
            " lines their intervals, shaded are quartiles. The numbers are in the table after the"
            " figure.",
        )
