"""Validation against test of every finalist, with the selected one and the oracle."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from analysis.figures.config_scatter import ConfigPoint, ring_choices
from analysis.figures.series import Series
from analysis.figures.style import PAPER, axes_at, drawing, label_axes
from analysis.figures.svg import inline_svg


@dataclass(frozen=True, slots=True, kw_only=True)
class Finalist(ConfigPoint):
    """One configuration in one block, averaged over its seeds; picked and oracle of the block.

    Attributes:
        series: look of the loss.
        is_tuned: False for the published default.
    """

    series: Series
    is_tuned: bool


def draw_validation_test(finalists: Sequence[Finalist], *, metric: str, name: str) -> Markup:
    """Filled markers are tuned, hollow ones defaults; a ring is picked, a square is the oracle."""
    with drawing(480, 400) as figure:
        axes = axes_at(figure, left_px=54, right_px=16, top_px=12, bottom_px=44)
        for look, is_tuned in dict.fromkeys((f.series, f.is_tuned) for f in finalists):
            alike = [f for f in finalists if (f.series, f.is_tuned) == (look, is_tuned)]
            axes.plot(
                [f.validation for f in alike],
                [f.test for f in alike],
                linestyle="none",
                marker=look.marker,
                markersize=6.5,
                color=look.colour,
                markerfacecolor=look.colour if is_tuned else PAPER,
                markeredgewidth=1.3,
            )
        ring_choices(axes, finalists, sizes=(14, 19))
        label_axes(axes, x=f"Validation {metric}, %", y=f"Test {metric}, %")
        axes.margins(0.07)
        return inline_svg(
            figure,
            name=name,
            title="Validation against test",
            description="One point for each loss, configuration and block. The numbers are in the"
            " table after the figure.",
        )
