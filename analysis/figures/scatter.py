"""Points of two numbers: each of a competitor, some emphasised, with a front line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from podium.analysis.figures.axis import Axis
from podium.analysis.figures.plot import Plot, rounded
from podium.analysis.figures.series import Series

_MARGIN = 0.06  # of the size of a map
_OF_MAP = Axis(label="", limits=(-_MARGIN, 1 + _MARGIN))


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point.

    Attributes:
        name: name of the competitor.
        x: value on the x axis.
        y: value on the y axis.
        low: lower end of the interval of ``y``; None without one.
        high: its upper end.
        label: text beside the point, where there is room; "" for none.
        detail: what else is shown of it when it is pointed at, in one or several lines.
        is_hollow: whether it is an outline.
        is_picked: whether it was selected on validation, which a circle around it marks.
        is_best: whether it is the best on test, which a square around it marks.
    """

    name: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    label: str = ""
    detail: str = ""
    is_hollow: bool = False
    is_picked: bool = False
    is_best: bool = False


def scatter_plot(
    points: Iterable[Point],
    axes: tuple[Axis, Axis] | None,
    *,
    name: str,
    title: str,
    label: str = "",
    front: Sequence[tuple[float, float]] = (),
    looks: Mapping[str, Series] | None = None,
) -> Plot:
    """The plot.

    Args:
        points: its points, best first.
        axes: the x and the y axis; None of a map, which is square and has none, as only distances
            between points matter: these are in [0, 1].
        name: name of the plot, unique within the page.
        title: text read out as its name.
        label: what distinguishes it from the other plots of its figure.
        front: points of a staircase by ascending ``x``, each holding until the next.
        looks: looks of the names, where these are no competitors of the page.
    """
    found = list(points)
    names = list(dict.fromkeys(point.name for point in found))
    x, y = axes or (_OF_MAP, _OF_MAP)
    return Plot(
        kind="scatter",
        name=name,
        title=title,
        label=label,
        values={
            "x": x.as_values(),
            "y": y.as_values(),
            "names": names,
            "points": _columns(found, names),
            "interval": "interval",
            "front": [[rounded(at), rounded(value)] for at, value in front],
            "is_map": axes is None,
            "looks": _looks(looks),
        },
    )


def _columns(points: Sequence[Point], names: Sequence[str]) -> dict[str, list[Any]]:
    """A list of each field; of optional ones only those that any point has."""
    numbers = {name: number for number, name in enumerate(names)}
    optional: dict[str, list[Any]] = {
        "low": [rounded(point.low) for point in points],
        "high": [rounded(point.high) for point in points],
        "label": [point.label for point in points],
        "detail": [point.detail for point in points],
        "hollow": [point.is_hollow for point in points],
        "picked": [point.is_picked for point in points],
        "best": [point.is_best for point in points],
    }
    return {
        "name": [numbers[point.name] for point in points],
        "x": [rounded(point.x) for point in points],
        "y": [rounded(point.y) for point in points],
        **{
            field: values
            for field, values in optional.items()
            if any(value not in (None, "") and value is not False for value in values)
        },
    }


def _looks(looks: Mapping[str, Series] | None) -> dict[str, Any] | None:
    """Name -> colour and symbol, as the page has them of its competitors."""
    if looks is None:
        return None
    return {
        name: {"colour": look.css_colour, "symbol": look.symbol} for name, look in looks.items()
    }
