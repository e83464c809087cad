"""Validation against test of all configs of one search, with its pick and the oracle."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from analysis.figures.style import INK, Series, axes_at, drawing
from analysis.figures.svg import inline_svg

__all__ = ["ConfigPoint", "draw_config_scatter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigPoint:
    """One config, scores in percent: ``is_picked`` on validation, ``is_oracle`` best on test."""

    validation: float
    test: float
    is_picked: bool
    is_oracle: bool


def draw_config_scatter(
    points: Sequence[ConfigPoint],
    *,
    title: str,
    series: Series,
    test_range: tuple[float, float],
    metric: str,
    name: str,
) -> Markup:
    """One panel: a ring marks the config selected on validation, a square the best on test."""
    with drawing(300, 280) as figure:
        axes = axes_at(figure, left_px=50, right_px=14, top_px=26, bottom_px=44)
        axes.plot(
            [point.validation for point in points],
            [point.test for point in points],
            linestyle="none",
            marker=series.marker,
            markersize=4.5,
            color=series.colour,
            alpha=0.85,
        )
        for marker, size, chosen in (
            ("o", 12, [point for point in points if point.is_picked]),
            ("s", 16, [point for point in points if point.is_oracle]),
        ):
            axes.plot(
                [point.validation for point in chosen],
                [point.test for point in chosen],
                linestyle="none",
                marker=marker,
                markersize=size,
                color=INK,
                markerfacecolor="none",
                markeredgewidth=1,
            )
        axes.margins(x=0.08)
        axes.set_ylim(*test_range)
        axes.set_xlabel(f"Validation {metric}, %")
        axes.set_ylabel(f"Test {metric}, %")
        axes.set_title(title, loc="left", fontweight="bold")
        return inline_svg(
            figure,
            name=name,
            title=f"Configs under {title}",
            description=f"Validation against test {metric} of every config of one search; a ring"
            " marks the config selected on validation, a square the best on test.",
        )
