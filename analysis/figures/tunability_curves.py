"""Tunability: the share of configs close to the best of their search, one curve a loss."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from analysis.figures.series import Series
from analysis.figures.style import axes_at, drawing, label_axes
from analysis.figures.svg import inline_svg

_WIDTH, _HEIGHT = 356, 250


def draw_tunability(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    series: Mapping[str, Series],
    name: str,
) -> Markup:
    """Share of configs, in percent, within so many points of the best config of their search.

    Args:
        curves: distances in points, ascending, and shares in percent, by loss.
        series: looks of the losses.
        name: name of the figure, unique within the page.
    """
    with drawing(_WIDTH, _HEIGHT) as figure:
        axes = axes_at(figure, left_px=48, right_px=16, top_px=10, bottom_px=44)
        for position, (loss, (distances, shares)) in enumerate(curves.items()):
            look = series[loss]
            axes.plot(
                distances,
                shares,
                color=look.colour,
                marker=look.marker,
                markersize=5,
                markevery=(2 + position, 14),
            )
        axes.set_ylim(0, 102)
        axes.set_xlim(left=0)
        label_axes(axes, x="points below the best of its search", y="configs, %")
        return inline_svg(
            figure,
            name=name,
            title="Tunability of each loss",
            description="A curve that rises early belongs to a loss that is easy to tune. The"
            " numbers are in the table after the figure.",
        )
