"""Audits ranks within blocks, as some papers print them: one row per block and competitor."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from analysis.audit.findings import Audit, Finding
from analysis.typed_tables.table_checks import block_text
from analysis.wording import counted, listed

# Rules by which a group of ties shares its ranks.
_RULES = ("average", "min", "max", "dense")


def audit_ranks(frame: pl.DataFrame, *, by: Sequence[str], competitor: str, rank: str) -> Audit:
    """Check printed ranks and name the rule that ties were ranked by.

    A block without ties holds 1 to k. With ties there are four rules: 2.5 and 2.5 (average), 2 and
    2 with 4 next (min), 3 and 3 (max), 2 and 2 with 3 next (dense); a block that none explains is
    a finding, and so is a table that takes two rules.

    Args:
        frame: one rank per row, a Float64 column in which a missing one is null.
        by: columns whose values together name a block.
        competitor: column of competitors.
        rank: column of ranks, 1 is best.
    """
    k = frame[competitor].n_unique()
    findings: list[Finding] = []
    rules: dict[str, set[str]] = {}
    tied: list[str] = []
    for key, block in frame.group_by(by, maintain_order=True):
        where = block_text(key)
        found = list(_block_findings(block, competitor, rank, k, where))
        findings += found
        if found:
            continue
        ranks = block[rank].sort()
        fitting = {rule for rule in _RULES if ranks.equals(_ranked(ranks, rule))}
        if not fitting:
            findings.append(_unexplained(ranks, where))
        elif ranks.is_duplicated().any():
            tied.append(where)
            rules[where] = fitting
    findings += _mixed(rules)
    return Audit(findings=tuple(findings), notes=(_tie_note(rules, tied, frame, by),))


def _block_findings(
    block: pl.DataFrame, competitor: str, rank: str, k: int, where: str
) -> Iterator[Finding]:
    names = block[competitor]
    for name in names.filter(names.is_duplicated()).unique().sort().to_list():
        message = f"has {(names == name).sum()} ranks"
        yield Finding(kind="duplicate", where=f"{where}/{name}", message=message)
    if names.n_unique() < k:
        message = f"ranks {counted(names.n_unique(), 'competitor')} of {k}"
        yield Finding(kind="missing", where=where, message=message)
    for name in block.filter(pl.col(rank).is_null())[competitor].to_list():
        yield Finding(kind="missing", where=f"{where}/{name}", message="has no rank")
    outside = (pl.col(rank) < 1) | (pl.col(rank) > k) | ((2 * pl.col(rank)) % 1 != 0)
    for name, value in block.filter(outside).select(competitor, rank).rows():
        yield Finding(
            kind="impossible",
            where=f"{where}/{name}",
            message=f"holds rank {value:g}; ranks are whole or half numbers from 1 to {k}",
        )


def _ranked(ranks: pl.Series, rule: str) -> pl.Series:
    """The ranks that the same order gets by a rule for ties."""
    return ranks.rank(rule).cast(pl.Float64)  # type: ignore[arg-type]


def _unexplained(ranks: pl.Series, where: str) -> Finding:
    k = len(ranks)
    return Finding(
        kind="total",
        where=where,
        message=f"the ranks {', '.join(f'{value:g}' for value in ranks)} add up to"
        f" {ranks.sum():g}; {k} ranks add up to {k * (k + 1) / 2:g}, and no rule for ties gives"
        " these",
    )


def _mixed(rules: Mapping[str, set[str]]) -> Iterator[Finding]:
    if rules and not set.intersection(*rules.values()):
        shown = [f"{where} {' or '.join(sorted(fitting))}" for where, fitting in rules.items()]
        yield Finding(
            kind="ties",
            where="the table",
            message=f"ties are ranked by different rules: {listed(shown)}",
        )


def _tie_note(
    rules: Mapping[str, set[str]], tied: Sequence[str], frame: pl.DataFrame, by: Sequence[str]
) -> Finding:
    if not rules:
        blocks = counted(len(frame.select(by).unique()), "block")
        message = f"no rank is shared in any of {blocks}, so the rule for ties is unknown"
    else:
        common = sorted(set.intersection(*rules.values()))
        rule = f"fit the rule {' or '.join(common)}" if common else "fit no one rule"
        message = f"{counted(len(tied), 'block')} with ties {rule}"
        if common and "average" not in common:
            message += "; average ranks, which tests assume, have another sum"
    return Finding(kind="ties", where="the table", message=message)
