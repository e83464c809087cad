"""The look of each competitor: one colour and symbol in every figure and table of a page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

NUM_COLOURS = 8
"""How many can be distinguished by colour; the colours are in the style of the page.

They are those of Okabe & Ito, Color Universal Design (2008). Black is the ink; yellow, faint on
paper, comes last.
"""

# Outlines of 50 square pixels around (0, 0), as d3-shape draws its symbols of these names.
_OUTLINES = {
    "circle": "M3.98,0A3.98,3.98,0,1,1,-3.98,0A3.98,3.98,0,1,1,3.98,0",
    "square": "M-3.53,-3.53h7.07v7.07h-7.07Z",
    "triangle": "M0,-6.20L5.37,3.10L-5.37,3.10Z",
    "diamond": "M0,-6.58L3.79,0L0,6.58L-3.79,0Z",
    "star": "M0,-6.67L1.49,-2.06L6.34,-2.06L2.42,0.78L3.92,5.39L0,2.54L-3.92,5.39L-2.42,0.78"
    "L-6.34,-2.06L-1.49,-2.06Z",
    "cross": "M-4.74,-1.58L-1.58,-1.58L-1.58,-4.74L1.58,-4.74L1.58,-1.58L4.74,-1.58L4.74,1.58"
    "L1.58,1.58L1.58,4.74L-1.58,4.74L-1.58,1.58L-4.74,1.58Z",
    "wye": "M1.90,1.10L1.90,4.91L-1.90,4.91L-1.90,1.10L-5.21,-0.80L-3.30,-4.11L0,-2.20L3.30,-4.11"
    "L5.21,-0.80Z",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The look of one competitor.

    Attributes:
        name: name of the competitor.
        position: number of its colour, from 0; None for the colour of all others.
    """

    name: str
    position: int | None

    @property
    def css_colour(self) -> str:
        """The colour, lighter where the page is dark."""
        return f"var(--series-{'other' if self.position is None else self.position})"

    @property
    def symbol(self) -> str:
        """The name of its symbol, as d3-shape has it."""
        names = tuple(_OUTLINES)
        return names[0] if self.position is None else names[self.position % len(names)]

    @property
    def outline(self) -> str:
        """The outline of its symbol as an SVG path within 7 pixels around (0, 0)."""
        return _OUTLINES[self.symbol]

    @property
    def key(self) -> str:
        """The id of its symbol in the page."""
        return f"key-{'other' if self.position is None else self.position}"


def series_of(names: Sequence[str], *, ranked: Sequence[str] = ()) -> dict[str, Series]:
    """A look for each name.

    Up to eight names get the colours by alphabetical order, independent of the ranking. Of more,
    the first eight of the ranking do, since more colours cannot be distinguished.

    Args:
        names: names of all competitors.
        ranked: their ranking, best first, as far as it is known.
    """
    known = sorted(set(names))
    coloured = known
    if len(known) > NUM_COLOURS:
        first = [name for name in dict.fromkeys((*ranked, *known)) if name in known]
        coloured = sorted(first[:NUM_COLOURS])
    positions = {name: position for position, name in enumerate(coloured)}
    return {name: Series(name=name, position=positions.get(name)) for name in known}


def coloured(looks: Iterable[Series]) -> tuple[Series, ...]:
    """Those with a colour of their own, for a legend: the others look alike."""
    return tuple(look for look in looks if look.position is not None)


def every_look() -> tuple[Series, ...]:
    """Every look, without names."""
    positions = (*range(NUM_COLOURS), None)
    return tuple(Series(name="", position=position) for position in positions)
