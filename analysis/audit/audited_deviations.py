"""Audits the standard deviations of a published tournament: which ddof they have, if any."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import Literal

from analysis.audit.audit_findings import Finding
from analysis.audit.published_rank_table import RankRow, RankTable
from analysis.typed_tables.printed_numbers import TRUNCATED, Printed, fits, misprint, root, shown

__all__ = [
    "RankTotal",
    "common_ddof",
    "deviation_findings",
    "exact_sd",
    "is_possible_sd",
    "nearest_sds",
]

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


Ddof = Literal[0, 1]
Truths = Mapping[str, Sequence[Fraction]]


def deviation_findings(table: RankTable, n: int, truths: Truths) -> Iterator[Finding]:
    """What is wrong with the deviations of a table over ``n`` blocks.

    Those that fit the ddof of most rows are right; ddof 1 is preferred where as many fit both.

    Args:
        table: as printed.
        n: the number of blocks.
        truths: competitor to its ranks, where the scores are known.
    """
    ddof = common_ddof(table, n, truths)
    if ddof is None:
        return
    column = table.columns["sd"]
    if ddof == 0:
        yield Finding(
            kind="ddof",
            where=column,
            message=f"the standard deviations are those of ddof 0, which divides by {n}: as"
            f" estimates they are too small by the factor {((n - 1) / n) ** 0.5:.3f} (ddof 1)",
        )
    for row in table.rows:
        if row.sd is None or _fits(table, row, row.sd, n, truths, ddof) in (True, None):
            continue
        ranks, where = truths.get(row.name), f"{row.name}, {column}"
        if ranks is not None:
            yield _wrong_sd(row.sd, ranks, ddof, where)
        else:
            yield _impossible_sd(table, row, row.sd, n, ddof, where)


def common_ddof(table: RankTable, n: int, truths: Truths) -> Ddof | None:
    """The ddof that more deviations fit; 1 if equally many do, None if there are none to judge."""
    if n < 2 or "sd" not in table.columns:
        return None
    counts: dict[Ddof, int] = {1: 0, 0: 0}
    judged = 0
    for row in table.rows:
        if row.sd is None:
            continue
        verdicts = {ddof: _fits(table, row, row.sd, n, truths, ddof) for ddof in counts}
        judged += None not in verdicts.values()
        for ddof, verdict in verdicts.items():
            counts[ddof] += verdict is True
    if not judged:
        return None
    return 1 if counts[1] >= counts[0] else 0


def exact_sd(values: Sequence[Fraction], ddof: int) -> Fraction:
    """The standard deviation to 60 digits; at least ``ddof + 1`` values."""
    mean = sum(values, Fraction(0)) / len(values)
    squares = sum(((value - mean) ** 2 for value in values), Fraction(0))
    return root(squares / (len(values) - ddof))


def _fits(
    table: RankTable, row: RankRow, sd: Printed, n: int, truths: Truths, ddof: int
) -> bool | None:
    """Whether a deviation is right, or possible; None if nothing can be said of it."""
    ranks = truths.get(row.name)
    if ranks is not None:
        return fits(sd, exact_sd(ranks, ddof))
    total = _total(table, row, n)
    return None if total is None else is_possible_sd(sd, total, ddof)


def _total(table: RankTable, row: RankRow, n: int) -> RankTotal | None:
    """The total of a row, if any ranks can have it; halves only where a total has one."""
    k = len(set(table.names))
    totals = [other.total.value for other in table.rows if other.total is not None]
    if row.total is None or not n <= row.total.value <= n * k:
        return None
    if any((2 * total).denominator != 1 for total in totals):
        return None
    parts = 1 if all(total.denominator == 1 for total in totals) else 2
    return RankTotal(total=row.total.value, num_blocks=n, num_competitors=k, parts=parts)


def _wrong_sd(sd: Printed, ranks: Sequence[Fraction], ddof: Ddof, where: str) -> Finding:
    true, other = exact_sd(ranks, ddof), exact_sd(ranks, 1 - ddof)
    cause = misprint(sd, true)
    if fits(sd, other):
        cause = f"it is that of ddof {1 - ddof}, not as the others"
    return Finding(
        kind="ddof" if fits(sd, other) else "truncated" if cause == TRUNCATED else "sd",
        where=where,
        message=f"printed {sd}, should be {shown(true, sd.decimals)}: the sd of its"
        f" {len(ranks)} ranks (ddof {ddof}) is {shown(true, sd.decimals + 2)}"
        f"{f' ({cause})' if cause else ''}",
    )


def _impossible_sd(
    table: RankTable, row: RankRow, sd: Printed, n: int, ddof: Ddof, where: str
) -> Finding:
    total = _total(table, row, n)
    assert total is not None, "a row that nothing can be said of fits"
    possible = nearest_sds(sd, total, ddof)
    nearest = min(possible, key=lambda value: abs(value - sd.value))
    cause = misprint(sd, nearest)
    of_ranks = f"no {n} whole ranks" if total.parts == 1 else f"no {n} ranks"
    parts = [
        f"printed {sd}, should be {shown(nearest, sd.decimals)}: {of_ranks} with the total"
        f" {row.total} have that sd (ddof {ddof}); the nearest possible"
        f" {'is' if len(possible) == 1 else 'are'}"
        f" {' and '.join(shown(value, sd.decimals + 2) for value in possible)}"
        f"{f' ({cause})' if cause else ''}"
    ]
    halves = RankTotal(
        total=total.total, num_blocks=n, num_competitors=total.num_competitors, parts=2
    )
    if total.parts == 1 and is_possible_sd(sd, halves, ddof):
        parts.append("ranks with ties could have it")
    if is_possible_sd(sd, total, 1 - ddof):
        parts.append(f"ddof {1 - ddof} could give it, but does not fit the others")
    return Finding(kind="sd", where=where, message="; ".join(parts))
