"""Validation against test of every finalist, with the selected one and the oracle."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from analysis.figures.style import INK, PAPER, Series, axes_at, drawing
from analysis.figures.svg import inline_svg

__all__ = ["Finalist", "draw_validation_test"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finalist:
    """One configuration in one block, averaged over its seeds, in percent.

    Attributes:
        series: look of the loss.
        is_tuned: False for the published default.
        is_picked: whether it is the best of its block on validation.
        is_oracle: whether it is the best of its block on test.
    """

    series: Series
    is_tuned: bool
    validation: float
    test: float
    is_picked: bool
    is_oracle: bool


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
        for marker, size, chosen in (
            ("o", 14, [f for f in finalists if f.is_picked]),
            ("s", 19, [f for f in finalists if f.is_oracle]),
        ):
            axes.plot(
                [f.validation for f in chosen],
                [f.test for f in chosen],
                linestyle="none",
                marker=marker,
                markersize=size,
                color=INK,
                markerfacecolor="none",
                markeredgewidth=1,
            )
        axes.set_xlabel(f"Validation {metric}, %")
        axes.set_ylabel(f"Test {metric}, %")
        axes.margins(0.07)
        return inline_svg(
            figure,
            name=name,
            title="Validation against test",
            description="One point for each loss, configuration and block. The numbers are in the"
            " table after the figure.",
        )
