"""Audits the standard deviations of a published tournament.

A deviation is that of a sample (``ddof`` 1, divides by n - 1) or of a population (``ddof`` 0,
divides by n). Without the scores, a printed deviation is checked against those that any ranks
with the printed total can have.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import Literal

from analysis.audit.findings import Finding
from analysis.audit.published_rank_table import RankRow, RankTable
from analysis.typed_tables.printed_numbers import TRUNCATED, Printed, fits, misprint, root, shown

KIND = {1: "sample standard deviation", 0: "population standard deviation"}
"""``ddof`` -> name of the deviation."""

_MOST_STEPS = 250_000  # blocks x competitors, squared; 28 blocks of 15 are 176,400
Ddof = Literal[0, 1]
TrueRanks = Mapping[str, Sequence[Fraction]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankTotal:
    """The total of the ranks of one competitor.

    Attributes:
        total: sum of the ranks.
        num_blocks: number n of ranks, at least 2.
        num_competitors: largest possible rank.
        denominator: 1 if all ranks are whole, 2 if they may be halves.
    """

    total: Fraction
    num_blocks: int
    num_competitors: int
    denominator: int = 1


def deviation_findings(table: RankTable, n: int, true_ranks: TrueRanks) -> Iterator[Finding]:
    """What is wrong with the deviations of a table over ``n`` blocks.

    Those that fit the kind (sample or population) of most rows are right; where as many fit both,
    the sample standard deviation is preferred.

    Args:
        table: the table as printed.
        n: number of blocks.
        true_ranks: competitor -> its ranks, where the scores are known.
    """
    ddof = common_ddof(table, n, true_ranks)
    if ddof is None:
        return
    column = table.columns["sd"]
    if ddof == 0:
        yield Finding(
            kind="ddof",
            where=column,
            message=f"the deviations are {KIND[0]}s, which divide by {n}: as estimates they are"
            f" too small by the factor {((n - 1) / n) ** 0.5:.3f}, compared with {KIND[1]}s",
        )
    for row in table.rows:
        if row.sd is None or _is_right(table, row, row.sd, n, true_ranks, ddof) in (True, None):
            continue
        ranks, where = true_ranks.get(row.name), f"{row.name}, {column}"
        if ranks is not None:
            yield _wrong_sd(row.sd, ranks, ddof, where)
        else:
            yield _impossible_sd(table, row, row.sd, n, ddof, where)


def common_ddof(table: RankTable, n: int, true_ranks: TrueRanks) -> Ddof | None:
    """The ddof that more deviations fit; 1 if equally many do, None if none can be checked."""
    if n < 2 or "sd" not in table.columns:
        return None
    counts: dict[Ddof, int] = {1: 0, 0: 0}
    num_checked = 0
    for row in table.rows:
        if row.sd is None:
            continue
        verdicts = {ddof: _is_right(table, row, row.sd, n, true_ranks, ddof) for ddof in counts}
        num_checked += None not in verdicts.values()
        for ddof, verdict in verdicts.items():
            counts[ddof] += verdict is True
    if not num_checked:
        return None
    return 1 if counts[1] >= counts[0] else 0


def exact_sd(values: Sequence[Fraction], ddof: int) -> Fraction:
    """The standard deviation to 60 digits; at least ``ddof + 1`` values."""
    mean = sum(values, Fraction(0)) / len(values)
    squares = sum(((value - mean) ** 2 for value in values), Fraction(0))
    return root(squares / (len(values) - ddof))


def is_possible_sd(printed: Printed, ranks: RankTotal, ddof: int) -> bool:
    """Whether any ranks with that total have a standard deviation that is printed so.

    Too many blocks and competitors to enumerate count as possible within the extremes.
    """
    low, high = (max(printed.value + side * printed.half_unit, Fraction(0)) for side in (-1, 1))
    squares = _possible_sums(
        ranks, _sum_of_squares(low, ranks, ddof), _sum_of_squares(high, ranks, ddof)
    )
    return any(fits(printed, _sd_of_squares(total, ranks, ddof)) for total in squares)


def nearest_sds(printed: Printed, ranks: RankTotal, ddof: int) -> list[Fraction]:
    """The possible deviations next below and next above a printed one, one or both."""
    wanted = _sum_of_squares(printed.value, ranks, ddof)
    low, high = _extreme_sums(ranks)
    below = list(_possible_sums(ranks, low, min(wanted, high)))[-1:]
    above = next((total for total in _possible_sums(ranks, wanted, high) if total > wanted), None)
    return [_sd_of_squares(total, ranks, ddof) for total in (*below, above) if total is not None]


def _is_right(
    table: RankTable, row: RankRow, sd: Printed, n: int, true_ranks: TrueRanks, ddof: int
) -> bool | None:
    """Whether a deviation is right, or possible; None if nothing can be said of it."""
    ranks = true_ranks.get(row.name)
    if ranks is not None:
        return fits(sd, exact_sd(ranks, ddof))
    total = _possible_total(table, row, n)
    return None if total is None else is_possible_sd(sd, total, ddof)


def _possible_total(table: RankTable, row: RankRow, n: int) -> RankTotal | None:
    """The total of a row, if any ranks can have it; halves only where a total has one."""
    k = len(set(table.names))
    totals = [other.total.value for other in table.rows if other.total is not None]
    if row.total is None or not n <= row.total.value <= n * k:
        return None
    if any((2 * total).denominator != 1 for total in totals):
        return None
    denominator = 1 if all(total.denominator == 1 for total in totals) else 2
    return RankTotal(
        total=row.total.value, num_blocks=n, num_competitors=k, denominator=denominator
    )


def _wrong_sd(sd: Printed, ranks: Sequence[Fraction], ddof: Ddof, where: str) -> Finding:
    true, other = exact_sd(ranks, ddof), exact_sd(ranks, 1 - ddof)
    cause = misprint(sd, true)
    if fits(sd, other):
        cause = f"it is a {KIND[1 - ddof]}, unlike the others"
    return Finding(
        kind="ddof" if fits(sd, other) else "truncated" if cause == TRUNCATED else "sd",
        where=where,
        message=f"printed {sd}, should be {shown(true, sd.decimals)}: the {KIND[ddof]}"
        f" of its {len(ranks)} ranks is {shown(true, sd.decimals + 2)}"
        f"{f' ({cause})' if cause else ''}",
    )


def _impossible_sd(
    table: RankTable, row: RankRow, sd: Printed, n: int, ddof: Ddof, where: str
) -> Finding:
    total = _possible_total(table, row, n)
    assert total is not None, "without a possible total no deviation is called wrong"
    possible = nearest_sds(sd, total, ddof)
    nearest = min(possible, key=lambda value: abs(value - sd.value))
    cause = misprint(sd, nearest)
    of_ranks = f"no {n} whole ranks" if total.denominator == 1 else f"no {n} ranks"
    remarks = [
        f"printed {sd}, should be {shown(nearest, sd.decimals)}: {of_ranks} with the total"
        f" {row.total} have that {KIND[ddof]}; the nearest possible"
        f" {'is' if len(possible) == 1 else 'are'}"
        f" {' and '.join(shown(value, sd.decimals + 2) for value in possible)}"
        f"{f' ({cause})' if cause else ''}"
    ]
    halves = RankTotal(
        total=total.total, num_blocks=n, num_competitors=total.num_competitors, denominator=2
    )
    if total.denominator == 1 and is_possible_sd(sd, halves, ddof):
        remarks.append("ranks with ties could have it")
    if is_possible_sd(sd, total, 1 - ddof):
        remarks.append(f"it is possible as a {KIND[1 - ddof]}, unlike the others")
    return Finding(kind="sd", where=where, message="; ".join(remarks))


def _sum_of_squares(sd: Fraction, ranks: RankTotal, ddof: int) -> Fraction:
    """The sum of squares that gives a deviation."""
    n = ranks.num_blocks
    return sd**2 * (n - ddof) + ranks.total**2 / n


def _sd_of_squares(squares: Fraction, ranks: RankTotal, ddof: int) -> Fraction:
    n = ranks.num_blocks
    return root((squares - ranks.total**2 / n) / (n - ddof))


def _possible_sums(ranks: RankTotal, low: Fraction, high: Fraction) -> Iterator[Fraction]:
    """The sums of squares in [low, high] that ranks of that total can have, ascending."""
    n, denominator = ranks.num_blocks, ranks.denominator
    least, most = _extreme_sums(ranks)
    scale = denominator**2
    units, top = int(ranks.total * denominator), ranks.num_competitors * denominator
    first = ceil(max(low, least) * scale)
    first += (first - units) % 2
    exact = _enumerated_sums(n, denominator, top)[units] if _can_enumerate(n, top) else None
    for squares in range(first, floor(min(high, most) * scale) + 1, 2):
        if exact is None or exact >> squares & 1:
            yield Fraction(squares, scale)


def _can_enumerate(n: int, top: int) -> bool:
    return (n * top) ** 2 <= _MOST_STEPS


@lru_cache(maxsize=8)
def _enumerated_sums(n: int, low: int, top: int) -> tuple[int, ...]:
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


def _extreme_sums(ranks: RankTotal) -> tuple[Fraction, Fraction]:
    """The sum of squares of ranks as equal as can be, and of ranks as extreme as can be."""
    n, denominator = ranks.num_blocks, ranks.denominator
    units, top = int(ranks.total * denominator), ranks.num_competitors * denominator
    each, left = divmod(units, n)
    least = (n - left) * each**2 + left * (each + 1) ** 2
    spare = units - n * denominator  # what is above rank 1 in every block
    at_top, rest = divmod(spare, max(top - denominator, 1))
    most = at_top * top**2
    if at_top < n:
        most += (denominator + rest) ** 2 + (n - at_top - 1) * denominator**2
    return Fraction(least, denominator**2), Fraction(most, denominator**2)
