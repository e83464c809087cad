"""What an audit of a table finds: what is wrong with it, and what else a reader should know."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing about a table.

    Attributes:
        kind: a short word, such as ``average``; `docs/audit-and-merge.md` lists them.
        where: the row, cell or column it is about.
        message: one plain sentence.
    """

    kind: str
    where: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What was found in one table.

    Attributes:
        findings: what is impossible or does not add up; each needs a correction or an explanation.
        notes: what is not wrong but decides how far the table can be trusted: ties, the kind of
            standard deviation, the verdict under each test, how stable the podium is.
    """

    findings: tuple[Finding, ...] = field(default=())
    notes: tuple[Finding, ...] = field(default=())


def joined(audits: Sequence[Audit]) -> Audit:
    """The findings and notes of several audits, in their order."""
    return Audit(
        findings=tuple(finding for audit in audits for finding in audit.findings),
        notes=tuple(note for audit in audits for note in audit.notes),
    )
