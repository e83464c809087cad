"""Audits a published table of a rank tournament: totals, averages and deviations of ranks.

k competitors are ranked in n blocks. Then the totals add up to n k (k + 1) / 2, an average is its
total over n, and only some standard deviations are possible at all
(`analysis.audit.deviations`). With the scores that the table claims to summarise, each
number is computed anew instead.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from analysis.audit.deviations import KIND, common_ddof, deviation_findings
from analysis.audit.findings import Audit, Finding
from analysis.audit.published_rank_table import RankRow, RankTable
from analysis.estimates.distributions import chi_square_tail
from analysis.hypothesis_tests.nemenyi import critical_difference
from analysis.tournament.tournament import Tournament
from analysis.typed_tables.printed_numbers import TRUNCATED, Printed, fits, misprint, shown
from analysis.wording import p_equals

_ALPHA = 0.05


def audit_tournament(
    table: RankTable, *, blocks: int | None = None, recomputed: Tournament | None = None
) -> Audit:
    """Check a published tournament against itself, and against its scores if there are any.

    Args:
        table: the table as printed.
        blocks: number of blocks that it summarises; None means that of ``recomputed``, else the
            number that most of the totals and averages agree on.
        recomputed: the tournament of the scores; competitors are matched by name. None if there
            are no scores.
    """
    known = len(recomputed.blocks) if recomputed is not None else blocks
    n = known or _agreed_blocks(table)
    true_ranks = _true_ranks(recomputed)
    findings = [
        *_duplicates(table),
        *_missing(table, true_ranks),
        *_sums(table, n),
        *(finding for row in table.rows for finding in _row_findings(table, row, n, true_ranks)),
        *(deviation_findings(table, n, true_ranks) if n else ()),
    ]
    return Audit(
        findings=tuple(findings),
        notes=tuple(_summary_notes(table, n, is_inferred=known is None, true_ranks=true_ranks)),
    )


def _true_ranks(recomputed: Tournament | None) -> dict[str, tuple[Fraction, ...]]:
    if recomputed is None:
        return {}
    return {
        name: tuple(map(Fraction, recomputed.ranks_BC[:, c].tolist()))
        for c, name in enumerate(recomputed.names)
    }


def _agreed_blocks(table: RankTable) -> int | None:
    """The number of blocks that most rows agree on; None if unknown."""
    k = len(table.names)
    totals = [row.total.value for row in table.rows if row.total is not None]
    by_sum = Fraction(2) * sum(totals, Fraction(0)) / (k * (k + 1))
    of_sum = int(by_sum) if by_sum.denominator == 1 and len(totals) == len(table.rows) else None
    votes = [
        candidate for row in table.rows for candidate in _row_blocks(row) if candidate is not None
    ]
    if not votes:
        return of_sum or None
    # Equal votes: what the sum of the totals says, then the least.
    return max(sorted(set(votes)), key=lambda n: (votes.count(n), n == of_sum))


def _row_blocks(row: RankRow) -> Iterator[int]:
    """Numbers of blocks for which a row's total and average go together, truncated or rounded."""
    if row.total is None or row.average is None or row.average.value < 1:
        return
    unit = 2 * row.average.half_unit
    low = row.total.value / (row.average.value + unit)
    high = row.total.value / max(row.average.value - unit / 2, Fraction(1, 2))
    for n in range(max(1, int(low)), int(high) + 2):
        true = row.total.value / n
        if fits(row.average, true) or misprint(row.average, true) == TRUNCATED:
            yield n


def _duplicates(table: RankTable) -> Iterator[Finding]:
    for name in sorted({name for name in table.names if table.names.count(name) > 1}):
        count = table.names.count(name)
        yield Finding(kind="duplicate", where=name, message=f"has {count} rows in the table")


def _missing(table: RankTable, true_ranks: dict[str, tuple[Fraction, ...]]) -> Iterator[Finding]:
    for row in table.rows:
        for role, column in table.columns.items():
            if row.cell(role) is None:
                where = f"{row.name}, {column}"
                yield Finding(kind="missing", where=where, message="has no value")
    if not true_ranks:
        return
    for name in sorted(set(table.names) ^ true_ranks.keys()):
        side = "scores" if name in true_ranks else "tournament table"
        message = f"is in the {side} only"
        yield Finding(kind="missing", where=name, message=message)


def _sums(table: RankTable, n: int | None) -> Iterator[Finding]:
    """What all rows together have to add up to."""
    k = len(table.names)
    if len(set(table.names)) < k:
        return
    totals = [row.total for row in table.rows if row.total is not None]
    averages = [row.average for row in table.rows if row.average is not None]
    if len(totals) == k and n is not None:
        found, right = sum((total.value for total in totals), Fraction(0)), _sum_of_ranks(n, k)
        if found != right:
            yield Finding(
                kind="total",
                where=table.columns["total"],
                message=f"the totals add up to {_plain(found)}; ranks of {k} competitors in {n}"
                f" blocks add up to {n} x {k} x {k + 1} / 2 = {_plain(right)}"
                f"{_suspect(table, n, found - right)}",
            )
    elif len(averages) == k and "total" not in table.columns:
        found, right = sum((mean.value for mean in averages), Fraction(0)), _sum_of_ranks(1, k)
        slack = sum((2 * mean.half_unit for mean in averages), Fraction(0)) / 2
        if abs(found - right) > slack:
            yield Finding(
                kind="average",
                where=table.columns["average"],
                message=f"the averages add up to {_plain(found)}; average ranks of {k} competitors"
                f" add up to {k} x {k + 1} / 2 = {_plain(right)}, whatever the rounding",
            )


def _suspect(table: RankTable, n: int, excess: Fraction) -> str:
    """The one row whose average shows that its total is what makes the sum wrong."""
    rows = [
        row
        for row in table.rows
        if row.total is not None
        and row.average is not None
        and not fits(row.average, row.total.value / n)
        and fits(row.average, (row.total.value - excess) / n)
    ]
    if len(rows) != 1 or rows[0].total is None:
        return ""
    right = _plain(rows[0].total.value - excess)
    return f". With {right} for {rows[0].name} they would, and its average says so"


def _row_findings(
    table: RankTable, row: RankRow, n: int | None, true_ranks: dict[str, tuple[Fraction, ...]]
) -> Iterator[Finding]:
    total, average, k = row.total, row.average, len(set(table.names))
    ranks = true_ranks.get(row.name)
    of_total = f"{row.name}, {table.columns.get('total', '')}"
    if total is not None and ranks is not None and total.value != sum(ranks):
        yield Finding(
            kind="total",
            where=of_total,
            message=f"printed {total}, the ranks of its scores add up to {_plain(sum(ranks))}",
        )
    elif total is not None and ranks is None:
        yield from _impossible_total(total, n, k, of_total)
    if row.sd is not None and row.sd.value < 0:
        where = f"{row.name}, {table.columns['sd']}"
        message = f"printed {row.sd}, a standard deviation is not negative"
        yield Finding(kind="impossible", where=where, message=message)
    if average is None:
        return
    where = f"{row.name}, {table.columns['average']}"
    if not fits(average, Fraction(1), Fraction(k)):
        message = f"printed {average}, an average rank lies within 1 and {k}"
        yield Finding(kind="impossible", where=where, message=message)
        return
    true_total = sum(ranks) if ranks is not None else None if total is None else total.value
    if n is not None and true_total is not None:
        how = f"{_plain(Fraction(true_total))} / {n}"
        wrong = _average_finding(average, Fraction(true_total) / n, where=where, how=how)
        if wrong is not None:
            yield wrong


def _impossible_total(total: Printed, n: int | None, k: int, where: str) -> Iterator[Finding]:
    if (2 * total.value).denominator != 1:
        message = f"printed {total}, ranks and halves of tied ranks add up to no such number"
        yield Finding(kind="impossible", where=where, message=message)
    elif n is not None and not n <= total.value <= n * k:
        message = f"printed {total}, {n} ranks from 1 to {k} add up to {n} at least and {n * k}"
        yield Finding(kind="impossible", where=where, message=f"{message} at most")


def _average_finding(printed: Printed, true: Fraction, *, where: str, how: str) -> Finding | None:
    """What is wrong with a printed mean, if anything is.

    Args:
        printed: the mean as printed.
        true: the mean before rounding.
        where: row and column, for the finding.
        how: how the true value is computed, such as ``103 / 12``.
    """
    if fits(printed, true):
        return None
    cause = misprint(printed, true)
    reason = f" ({cause})" if cause else ""
    right, exact = shown(true, printed.decimals), shown(true, printed.decimals + 2)
    return Finding(
        kind="truncated" if cause == TRUNCATED else "average",
        where=where,
        message=f"printed {printed}, should be {right}: {how} = {exact}{reason}",
    )


def _summary_notes(
    table: RankTable,
    n: int | None,
    *,
    is_inferred: bool,
    true_ranks: Mapping[str, Sequence[Fraction]],
) -> Iterator[Finding]:
    """Notes on a published tournament.

    Args:
        table: the table as printed.
        n: number of blocks; None if unknown.
        is_inferred: whether ``n`` was found from the table itself.
        true_ranks: competitor -> its ranks, where the scores are known; the verdict is then left
            to the audit of the scores.
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
    ddof = common_ddof(table, n, true_ranks)
    if ddof is not None:
        message = f"most standard deviations are {KIND[ddof]}s"
        yield Finding(kind="ddof", where=table.columns["sd"], message=message)
    if not true_ranks:
        yield _tie_rule(table)
        yield from _verdict(table, n)


def _tie_rule(table: RankTable) -> Finding:
    totals = [row.total.value for row in table.rows if row.total is not None]
    if any(total.denominator != 1 for total in totals):
        message = "a total holds half a rank, so tied competitors share their average rank"
    else:
        message = "no total holds half a rank, so the rule for ties, if there were any, is unknown"
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
    num_different = sum(abs(a - b) / n >= difference for a, b in combinations(totals.values(), 2))
    yield Finding(
        kind="verdict",
        where="the table",
        message=f"from the totals, without ties: Friedman chi-square {statistic:.3f},"
        f" {k - 1} degrees of freedom, {p_equals(chi_square_tail(statistic, k - 1))}; Nemenyi's"
        f" critical difference {difference:.3f} at alpha = {_ALPHA:g}: {num_different} of"
        f" {k * (k - 1) // 2} pairs significantly different. Wilcoxon's test needs the scores",
    )


def _sum_of_ranks(n: int, k: int) -> Fraction:
    return Fraction(n * k * (k + 1), 2)


def _plain(value: Fraction | int) -> str:
    """Without zeros at the end: ``54``, ``54.5``."""
    return f"{float(value):g}" if value < 1_000_000 else str(value)
