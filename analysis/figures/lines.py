"""Lines over a number: one for each competitor, with a band, dots, and its name at its end."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from podium.analysis.figures.axis import Axis
from podium.analysis.figures.plot import Plot, rounded

State = Literal["complete", "pruned", "failed"]  # a filled dot, a hollow one, a cross


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line, and the band around it where both its ends are known.

    Attributes:
        name: name of the competitor.
        xs: values on the x axis, ascending.
        ys: a value on the y axis for each of them; None leaves a gap.
        lows: lower end of the band at each of them; () without a band.
        highs: upper end of the band.
        dots: x, y and state of dots of its own; without a y one is on the lower edge.
        note: what distinguishes it from another line of the same competitor; "" for nothing.
    """

    name: str
    xs: Sequence[float]
    ys: Sequence[float | None]
    lows: Sequence[float | None] = ()
    highs: Sequence[float | None] = ()
    dots: Sequence[tuple[float, float | None, State]] = ()
    note: str = ""


def lines_plot(
    lines: Iterable[Line],
    axes: tuple[Axis, Axis],
    *,
    name: str,
    title: str,
    label: str = "",
    band: str = "",
    style: Literal["plain", "steps", "points"] = "plain",
) -> Plot:
    """The plot.

    Args:
        lines: its lines, best first.
        axes: the x and the y axis.
        name: name of the plot, unique within the page.
        title: text read out as its name.
        label: what distinguishes it from the other plots of its figure.
        band: what the bands are, such as ``range of 3 seeds``.
        style: of ``steps`` a value holds until the next one; of ``points`` each value has the
            competitor's symbol.
    """
    found = list(lines)
    xs = list(dict.fromkeys(tuple(line.xs) for line in found))
    return Plot(
        kind="lines",
        name=name,
        title=title,
        label=label,
        values={
            "x": axes[0].as_values(),
            "y": axes[1].as_values(),
            "xs": [[rounded(value) for value in values] for values in xs],
            "lines": [_line(line, xs.index(tuple(line.xs))) for line in found],
            "band": band,
            "are_steps": style == "steps",
            "has_points": style == "points",
        },
    )


def _line(line: Line, xs: int) -> dict[str, Any]:
    values: dict[str, Any] = {
        "name": line.name,
        "xs": xs,
        "y": [rounded(value) for value in line.ys],
    }
    if line.lows:
        values["low"] = [rounded(value) for value in line.lows]
        values["high"] = [rounded(value) for value in line.highs]
    if line.note:
        values["note"] = line.note
    if line.dots:
        values["dots"] = {
            "x": [rounded(x) for x, _, _ in line.dots],
            "y": [rounded(y) for _, y, _ in line.dots],
            "state": "".join(state[0] for _, _, state in line.dots),
        }
    return values


def thinned(count: int, most: int) -> list[int]:
    """At most so many of the positions from 0 to ``count`` - 1, spread evenly, with both ends.

    Args:
        count: number of positions.
        most: how many to keep, at least 1; a single one is in the middle.
    """
    if count <= most:
        return list(range(count))
    if most == 1:
        return [count // 2]
    step = (count - 1) / (most - 1)
    return [int(step * position + 0.5) for position in range(most)]
