"""What a published tournament lets a reader conclude from its totals alone."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from analysis.audit.audit_findings import Finding
from analysis.audit.audited_deviations import common_ddof
from analysis.audit.published_rank_table import RankTable
from analysis.estimates.distributions import chi_square_tail
from analysis.hypothesis_tests.nemenyi import critical_difference
from analysis.wording import p_equals

__all__ = ["summary_notes"]

_ALPHA = 0.05


def summary_notes(
    table: RankTable, n: int | None, *, is_inferred: bool, truths: Mapping[str, Sequence[Fraction]]
) -> Iterator[Finding]:
    """Notes on a published tournament.

    Args:
        table: as printed.
        n: the number of blocks; None if nothing says it.
        is_inferred: whether ``n`` was found from the table itself.
        truths: competitor to its ranks, where the scores are known; verdicts then are theirs.
    """
    if n is None:
        yield Finding(
            kind="blocks",
            where="the table",
            message="totals and averages agree on no number of blocks, so little can be checked;"
            " give it with --blocks",
        )
        return
    if is_inferred:
        message = f"the totals and averages agree on {n} blocks"
        yield Finding(kind="blocks", where="the table", message=message)
    ddof = common_ddof(table, n, truths)
    if ddof is not None:
        message = f"most standard deviations fit ddof {ddof}"
        yield Finding(kind="ddof", where=table.columns["sd"], message=message)
    if not truths:
        yield _tie_rule(table)
        yield from _verdict(table, n)


def _tie_rule(table: RankTable) -> Finding:
    totals = [row.total.value for row in table.rows if row.total is not None]
    if any(total.denominator != 1 for total in totals):
        message = "a total holds half a rank, so tied competitors share their average rank"
    else:
        message = (
            "no total holds half a rank, so how ties were ranked, if there were any, cannot be"
            " told from this table"
        )
    return Finding(kind="ties", where="the table", message=message)


def _verdict(table: RankTable, n: int) -> Iterator[Finding]:
    """Friedman and Nemenyi, which need no more than totals; ranks are taken to have no ties."""
    totals = {row.name: float(row.total.value) for row in table.rows if row.total is not None}
    k = len(table.rows)
    if len(totals) < k or k < 3 or n < 2 or sum(totals.values()) != n * k * (k + 1) / 2:
        return
    statistic = 12 / (n * k * (k + 1)) * sum(total**2 for total in totals.values())
    statistic -= 3 * n * (k + 1)
    difference = critical_difference(k, n, _ALPHA)
    apart = sum(abs(a - b) / n >= difference for a, b in combinations(totals.values(), 2))
    yield Finding(
        kind="verdict",
        where="the table",
        message=f"from the totals, without ties: Friedman chi-square {statistic:.3f},"
        f" {k - 1} degrees of freedom, {p_equals(chi_square_tail(statistic, k - 1))}; Nemenyi's"
        f" critical difference {difference:.3f} at alpha = {_ALPHA:g} separates {apart} of"
        f" {k * (k - 1) // 2} pairs. Wilcoxon's test needs the scores",
    )
