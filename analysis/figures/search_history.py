"""Objective of each trial of a block's searches, in the order of suggestion."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from analysis.figures.series import Series
from analysis.figures.style import PAPER, axes_at, drawing, label_axes
from analysis.figures.svg import inline_svg


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHistory:
    """The trials of one search, by index.

    Attributes:
        series: look of the loss.
        indices: indices of the trials, ascending.
        objectives: objectives of the trials in percent; NaN where a trial gave none.
        states: states of the trials: COMPLETE, PRUNED or FAILED.
    """

    series: Series
    indices: tuple[int, ...]
    objectives: tuple[float, ...]
    states: tuple[str, ...]


def draw_search_history(
    searches: Sequence[SearchHistory],
    *,
    block: str,
    y_range: tuple[float, float],
    metric: str,
    name: str,
) -> Markup:
    """One panel: the incumbent as a step line; filled complete, hollow pruned, x failed.

    Failed trials have no objective and are drawn on the lower edge.
    """
    with drawing(340, 230) as figure:
        axes = axes_at(figure, left_px=54, right_px=12, top_px=26, bottom_px=40)
        for search in searches:
            _draw_incumbent(axes, search)
            _draw_trials(axes, search, floor=y_range[0])
        axes.set_xlim(*_x_range(searches))
        axes.set_ylim(*y_range)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        label_axes(
            axes, x="Trial (0 is the published default)", y=f"Validation {metric}, %", title=block
        )
        return inline_svg(
            figure,
            name=name,
            title=f"Search history of {block}",
            description=f"Validation {metric} of every trial in the order of suggestion, with the"
            " incumbent, the best complete trial so far, as a line for each loss.",
        )


def _x_range(searches: Sequence[SearchHistory]) -> tuple[float, float]:
    """At least one trial wide: of a single trial there would be ticks between 0 and 1."""
    last = max((index for search in searches for index in search.indices), default=0)
    margin = 0.04 * max(last, 1)
    return -margin, max(last, 1) + margin


def _draw_incumbent(axes: Axes, search: SearchHistory) -> None:
    """Only complete trials can be the incumbent: pruned ones were seen for fewer epochs."""
    complete = np.array([state == "COMPLETE" for state in search.states])
    values = np.where(complete, np.array(search.objectives, dtype=float), -np.inf)
    best = np.maximum.accumulate(values)
    best[np.isneginf(best)] = np.nan
    indices = np.array(search.indices)
    is_corner = np.append(True, best[1:] != best[:-1])  # where it rises; NaN differs from NaN
    is_corner[-1:] = True
    axes.step(
        indices[is_corner],
        best[is_corner],
        where="post",
        color=search.series.colour,
        linewidth=1.4,
    )


def _draw_trials(axes: Axes, search: SearchHistory, floor: float) -> None:
    points = list(zip(search.indices, search.objectives, search.states, strict=True))
    for state, face in (("COMPLETE", search.series.colour), ("PRUNED", PAPER)):
        chosen = [(x, y) for x, y, found in points if found == state and not np.isnan(y)]
        axes.plot(
            [x for x, _ in chosen],
            [y for _, y in chosen],
            linestyle="none",
            marker=search.series.marker,
            markersize=5,
            color=search.series.colour,
            markerfacecolor=face,
            alpha=1 if state == "COMPLETE" else 0.75,
        )
    failed = [x for x, _, state in points if state == "FAILED"]
    axes.plot(
        failed,
        [floor] * len(failed),
        linestyle="none",
        marker="x",
        markersize=7,
        markeredgewidth=1.8,
        color=search.series.colour,
        clip_on=False,
    )
