"""Which standard deviations n ranks with a given total can have at all.

The sum of squares of whole numbers is a whole number, as odd or even as their sum. So between two
deviations that ranks can have lie others that no ranks have, and a printed deviation can be shown
wrong without the ranks (GRIM: Brown and Heathers 2017, doi:10.1177/1948550616673876; for
deviations GRIMMER: Anaya 2016, doi:10.7287/peerj.preprints.2400; parity: Allard 2018). Average
ranks of ties are halves: twice the rank is a whole number, and the same holds for that.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from analysis.printed import Printed, fits, root

__all__ = ["RankTotal", "is_possible_sd", "nearest_sds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankTotal:
    """The total of n ranks of one competitor.

    Attributes:
        total: of the ranks.
        num_blocks: n, at least 2.
        num_competitors: the largest rank.
        parts: 1 if all ranks are whole, 2 if they may be halves.
    """

    total: Fraction
    num_blocks: int
    num_competitors: int
    parts: int = 1


def is_possible_sd(printed: Printed, ranks: RankTotal, ddof: int) -> bool:
    """Whether any ranks with that total have a standard deviation printed so."""
    low, high = (max(printed.value + side * printed.half_unit, Fraction(0)) for side in (-1, 1))
    squares = _between(ranks, _squares(low, ranks, ddof), _squares(high, ranks, ddof))
    return any(fits(printed, _sd(total, ranks, ddof)) for total in squares)


def nearest_sds(printed: Printed, ranks: RankTotal, ddof: int) -> list[Fraction]:
    """The possible deviations next below and next above a printed one, where there are any."""
    wanted = _squares(printed.value, ranks, ddof)
    step = Fraction(2, ranks.parts**2)
    low, high = _bounds(ranks)
    below = [total for total in _between(ranks, wanted - step, wanted) if total <= wanted][-1:]
    above = [total for total in _between(ranks, wanted, wanted + step) if total > wanted][:1]
    if not below and not above:
        below = [high] if wanted > high else [low]
    return [_sd(total, ranks, ddof) for total in (*below, *above)]


def _squares(sd: Fraction, ranks: RankTotal, ddof: int) -> Fraction:
    """The sum of squares that gives a deviation."""
    n = ranks.num_blocks
    return sd**2 * (n - ddof) + ranks.total**2 / n


def _sd(squares: Fraction, ranks: RankTotal, ddof: int) -> Fraction:
    n = ranks.num_blocks
    return root((squares - ranks.total**2 / n) / (n - ddof))


def _between(ranks: RankTotal, low: Fraction, high: Fraction) -> Iterator[Fraction]:
    """The sums of squares in [low, high] that ranks of that total can have, rising."""
    least, most = _bounds(ranks)
    scale = ranks.parts**2
    parity = int(ranks.total * ranks.parts) % 2
    first = ceil(max(low, least) * scale)
    first += (first - parity) % 2
    for squares in range(first, floor(min(high, most) * scale) + 1, 2):
        yield Fraction(squares, scale)


def _bounds(ranks: RankTotal) -> tuple[Fraction, Fraction]:
    """The sum of squares of ranks as equal as can be, and of ranks as extreme as can be."""
    n, parts = ranks.num_blocks, ranks.parts
    units, top = int(ranks.total * parts), ranks.num_competitors * parts
    each, left = divmod(units, n)
    least = (n - left) * each**2 + left * (each + 1) ** 2
    spare = units - n * parts  # what is above rank 1 in every block
    at_top, rest = divmod(spare, max(top - parts, 1))
    most = at_top * top**2
    if at_top < n:
        most += (parts + rest) ** 2 + (n - at_top - 1) * parts**2
    return Fraction(least, parts**2), Fraction(most, parts**2)
