"""Which standard deviations n ranks with a given total can have at all.

The sum of squares of whole numbers is a whole number, as odd or even as their sum. So between two
deviations that ranks can have lie others that no ranks have, and a printed deviation can be shown
wrong without the ranks (GRIM: Brown and Heathers 2017, doi:10.1177/1948550616673876; for
deviations GRIMMER: Anaya 2016, doi:10.7287/peerj.preprints.2400; parity: Allard 2018). Average
ranks of ties are halves: twice the rank is a whole number, and the same holds for that.

Parity and bounds do not forbid enough with few blocks (two ranks that add up to 5 have squares of
13 or 17, never 15), so sums of squares are listed as long as that takes no time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from analysis.typed_tables.printed_numbers import Printed, fits, root

__all__ = ["RankTotal", "is_possible_sd", "nearest_sds"]

_MOST_STEPS = 250_000  # blocks x competitors, squared; 28 blocks of 15 are 176,400


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
    low, high = _bounds(ranks)
    below = list(_between(ranks, low, min(wanted, high)))[-1:]
    above = next((total for total in _between(ranks, wanted, high) if total > wanted), None)
    return [_sd(total, ranks, ddof) for total in (*below, above) if total is not None]


def _squares(sd: Fraction, ranks: RankTotal, ddof: int) -> Fraction:
    """The sum of squares that gives a deviation."""
    n = ranks.num_blocks
    return sd**2 * (n - ddof) + ranks.total**2 / n


def _sd(squares: Fraction, ranks: RankTotal, ddof: int) -> Fraction:
    n = ranks.num_blocks
    return root((squares - ranks.total**2 / n) / (n - ddof))


def _between(ranks: RankTotal, low: Fraction, high: Fraction) -> Iterator[Fraction]:
    """The sums of squares in [low, high] that ranks of that total can have, rising."""
    n, parts = ranks.num_blocks, ranks.parts
    least, most = _bounds(ranks)
    scale = parts**2
    units, top = int(ranks.total * parts), ranks.num_competitors * parts
    first = ceil(max(low, least) * scale)
    first += (first - units) % 2
    exact = _reachable(n, parts, top)[units] if _can_list(n, top) else None
    for squares in range(first, floor(min(high, most) * scale) + 1, 2):
        if exact is None or exact >> squares & 1:
            yield Fraction(squares, scale)


def _can_list(n: int, top: int) -> bool:
    return (n * top) ** 2 <= _MOST_STEPS


@lru_cache(maxsize=8)
def _reachable(n: int, low: int, top: int) -> tuple[int, ...]:
    """For each total of n whole numbers from low to top, its sums of squares as set bits."""
    sums = [1]
    for number in range(1, n + 1):
        wider = [0] * (number * top + 1)
        for total, squares in enumerate(sums):
            if squares:
                for rank in range(low, top + 1):
                    wider[total + rank] |= squares << rank**2
        sums = wider
    return tuple(sums)


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
