"""Validation against test of all configs of one search, with its pick and the oracle."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes

from analysis.figures.series import Series
from analysis.figures.style import INK, axes_at, drawing, label_axes
from analysis.figures.svg import inline_svg


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
        ring_choices(axes, points, sizes=(12, 16))
        axes.margins(x=0.08)
        axes.set_ylim(*test_range)
        label_axes(axes, x=f"Validation {metric}, %", y=f"Test {metric}, %", title=title)
        return inline_svg(
            figure,
            name=name,
            title=f"Configs under {title}",
            description=f"Validation against test {metric} of every config of one search; a ring"
            " marks the config selected on validation, a square the best on test.",
        )


def ring_choices(axes: Axes, points: Sequence[ConfigPoint], *, sizes: tuple[float, float]) -> None:
    """A ring around what was picked on validation, and a square around the best on test."""
    picked = [point for point in points if point.is_picked]
    oracle = [point for point in points if point.is_oracle]
    for marker, size, chosen in zip("os", sizes, (picked, oracle), strict=True):
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
