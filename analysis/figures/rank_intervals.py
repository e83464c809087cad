"""Average rank of each competitor with its bootstrap interval."""

from collections.abc import Sequence

from markupsafe import Markup

from analysis.figures.estimate import Estimate, draw_estimate, named_rows
from analysis.figures.style import Series, axes_at, drawing
from analysis.figures.svg import inline_svg

__all__ = ["draw_rank_intervals"]

_WIDTH = 356
_LINE = 30


def draw_rank_intervals(rows: Sequence[tuple[Series, Estimate]], *, name: str) -> Markup:
    """One line a competitor, in the order given; rank 1, the best, is at the left."""
    with drawing(_WIDTH, _LINE * len(rows) + 48) as figure:
        left = 14 + 7.2 * max((len(series.name) for series, _ in rows), default=0)
        axes = axes_at(figure, left_px=left, right_px=14, top_px=8, bottom_px=40)
        for position, (series, rank) in enumerate(rows):
            draw_estimate(axes, position, rank, series, is_filled=True)
        named_rows(axes, [series.name for series, _ in rows])
        axes.set_xlim(0.8, len(rows) + 0.2)
        axes.set_xticks(range(1, len(rows) + 1))
        axes.set_xlabel("Average rank (1 is best)")
        return inline_svg(
            figure,
            name=name,
            title="Average ranks with their intervals",
            description="One line for each competitor, best at the top. The numbers are in the"
            " table after the figure.",
        )
