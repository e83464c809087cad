"""Average rank of each competitor with its bootstrap interval, P(first) and P(top 3)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes

from analysis.figures.estimate import Estimate, draw_estimate, name_rows
from analysis.figures.series import Series
from analysis.figures.style import FONT_SIZE, axes_at, drawing
from analysis.figures.svg import inline_svg
from analysis.wording import percent

_PLOT = 260
_LINE = 30
_COLUMN = 74  # px, a column of probabilities
_MOST_TICKS = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRow:
    """One competitor.

    Attributes:
        series: look of the competitor.
        rank: average rank with its interval.
        p_first: share of resamples in which it is first.
        p_top_three: share of resamples in which it is among the first three.
    """

    series: Series
    rank: Estimate
    p_first: float
    p_top_three: float


def draw_rank_intervals(rows: Sequence[RankRow], *, name: str) -> Markup:
    """One line a competitor, in the order given; rank 1, the best, is at the left."""
    names = [row.series.name for row in rows]
    left = 14 + 7.2 * max(map(len, names), default=0)
    with drawing(left + _PLOT + 2 * _COLUMN + 8, _LINE * len(rows) + 68) as figure:
        axes = axes_at(figure, left_px=left, right_px=2 * _COLUMN + 8, top_px=28, bottom_px=40)
        for position, row in enumerate(rows):
            draw_estimate(axes, position, row.rank, row.series, is_filled=True)
        name_rows(axes, names)
        axes.set_xlim(0.8, len(rows) + 0.2)
        axes.set_xticks(range(1, len(rows) + 1, math.ceil(len(rows) / _MOST_TICKS)))
        axes.set_xlabel("Average rank (1 is best)")
        _write_column(axes, 1, "P(first)", [percent(row.p_first) for row in rows])
        _write_column(axes, 2, "P(top 3)", [percent(row.p_top_three) for row in rows])
        return inline_svg(
            figure,
            name=name,
            title="Average ranks with their intervals",
            description="One line for each competitor, best at the top, with its average rank,"
            " interval, and the probabilities of rank 1 and of ranks 1 to 3. The numbers"
            " are in the table after the figure.",
        )


def _write_column(axes: Axes, column: int, head: str, texts: Sequence[str]) -> None:
    """A column of texts at the right of the plot."""
    for y, text in [(-0.5, head), *enumerate(texts)]:
        axes.annotate(
            text,
            (1, y),
            xycoords=("axes fraction", "data"),
            xytext=(column * _COLUMN, 10 if text is head else 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=FONT_SIZE - 1,
            annotation_clip=False,
        )
