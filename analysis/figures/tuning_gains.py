"""Default and tuned losses on validation and on test, and the gain of tuning."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes

from analysis.figures.estimate import Estimate, draw_estimate, name_group, name_lines, name_rows
from analysis.figures.series import Series
from analysis.figures.style import INK, axes_at, drawing, width_beside
from analysis.figures.svg import inline_svg

_WIDTH = 356
_LINE = 20
_LETTER = 7.2  # pixels
_GROUP = 3.3  # lines: the name, validation, test, and a little space
_MARGINS = {"right_px": 14.0, "top_px": 4.0, "bottom_px": 40.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningRow:
    """Estimates of one loss, or of the untrained network; None is drawn as nothing.

    Attributes:
        name: name of the loss.
        series: look of the loss; None for the untrained network, which has no tuned estimates.
        levels: means over blocks in percent: default and tuned on validation, then on test.
        gain: tuned minus default on test, in points.
    """

    name: str
    series: Series | None
    levels: tuple[Estimate | None, ...]
    gain: Estimate | None


def draw_tuning(rows: Sequence[TuningRow], *, metric: str, name: str) -> Markup:
    """Two lines a row, validation above test; hollow is the default, filled is tuned.

    The axis ends at 0 and 100 % at the latest, whatever the intervals.
    """
    height = len(rows) * _GROUP * _LINE + _MARGINS["top_px"] + _MARGINS["bottom_px"]
    with drawing(_WIDTH, height) as figure:
        axes = axes_at(figure, left_px=78, **_MARGINS)
        tops = [_GROUP * position for position in range(len(rows))]
        for top, row in zip(tops, rows, strict=True):
            name_group(axes, top, row.name)
            _draw_pair(axes, top + 1, row.series, *row.levels[:2])
            _draw_pair(axes, top + 2, row.series, *row.levels[2:])
        heights = [top + line for top in tops for line in (1, 2)]
        name_lines(axes, heights, ["validation", "test"] * len(rows), end=_GROUP * len(rows))
        low, high = axes.get_xlim()
        axes.set_xlim(max(low, 0), min(high, 100))  # intervals of few blocks reach beyond
        axes.set_xlabel(f"{metric}, %")
        return inline_svg(
            figure,
            name=name,
            title=f"{metric} of each loss at its published default and tuned",
            description="One pair of lines for each loss: validation above, test below. A hollow"
            " marker is the published default, a filled one the tuned configuration. The numbers"
            " are in the table beside the figure.",
        )


def draw_gains(rows: Sequence[TuningRow], *, name: str) -> Markup:
    """Gain of tuning on test: tuned minus default, with zero marked."""
    rows = [row for row in rows if row.series is not None]
    height = len(rows) * 1.6 * _LINE + _MARGINS["top_px"] + _MARGINS["bottom_px"]
    left = 14 + _LETTER * max((len(row.name) for row in rows), default=0)
    width = width_beside(left, usual_px=_WIDTH, right_px=_MARGINS["right_px"])
    with drawing(width, height) as figure:
        axes = axes_at(figure, left_px=left, **_MARGINS)
        axes.axvline(0, color=INK, linewidth=1, dashes=(4, 3))
        for position, row in enumerate(rows):
            if row.gain is not None and row.series is not None:
                draw_estimate(axes, position, row.gain, row.series, is_filled=True)
        name_rows(axes, [row.name for row in rows])
        axes.set_xlabel("Gain on test, points")
        return inline_svg(
            figure,
            name=name,
            title="Gain of tuning over the published default",
            description="One line for each loss: the mean gain over blocks with its interval. Zero"
            " is marked by a dashed line. The numbers are in the table beside the figure.",
        )


def _draw_pair(
    axes: Axes, y: float, series: Series | None, default: Estimate | None, tuned: Estimate | None
) -> None:
    if series is None:
        if default is not None:
            axes.plot([default.value], [y], marker="|", color=INK, markersize=14, linestyle="none")
        return
    if default is not None and tuned is not None:
        axes.annotate(
            "",
            (tuned.value, y),
            (default.value, y),
            arrowprops={"arrowstyle": "-", "color": series.colour, "alpha": 0.35, "lw": 5},
        )
    if default is not None:
        draw_estimate(axes, y, default, series, is_filled=False)
    if tuned is not None:
        draw_estimate(axes, y, tuned, series, is_filled=True)
