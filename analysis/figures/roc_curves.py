"""ROC curves of verification: pairs of one class accepted, by the false accept rate."""

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from analysis.figures.series import Series
from analysis.figures.style import axes_at, drawing, fitted_size, label_axes
from analysis.figures.svg import inline_svg

_WIDTH, _HEIGHT = 356, 260
_ROOM_PX = 280  # for a title


def draw_roc_curves(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    series: Mapping[str, Series],
    block: str,
    fars: tuple[float, float],
    name: str,
) -> Markup:
    """One panel with a logarithmic axis of FAR; a curve ends at the lowest FAR that is known.

    Args:
        curves: FARs, shares of 1, and TARs, in percent, by loss.
        series: looks of the losses.
        block: title of the panel.
        fars: lowest and highest FAR of the axis, the same in all panels of a figure.
        name: name of the figure, unique within the page.
    """
    with drawing(_WIDTH, _HEIGHT) as figure:
        axes = axes_at(figure, left_px=48, right_px=16, top_px=26, bottom_px=46)
        for position, (loss, (fars_T, tars_T)) in enumerate(curves.items()):
            look = series[loss]
            axes.plot(
                fars_T,
                tars_T,
                color=look.colour,
                marker=look.marker,
                markersize=5,
                markevery=(position % 10, 10),
            )
        axes.set_xscale("log")
        axes.minorticks_off()
        decades = range(-int(math.log10(fars[0]) - 1e-9), -1, -1)
        axes.set_xticks([10.0**-k for k in decades], [f"1e-{k}" if k else "1" for k in decades])
        axes.set_xlim(*fars)
        axes.set_ylim(0, 102)
        label_axes(
            axes,
            x="false accept rate",
            y="TAR, %",
            title=block,
            title_size=fitted_size(block, _ROOM_PX),
        )
        return inline_svg(
            figure,
            name=name,
            title=block,
            description="Share of pairs of one class that are accepted, by the false accept rate,"
            " one line for each loss. The numbers are in the table after the figure.",
        )
