"""What an audit of a table finds: what is wrong with it, and what else a reader should know."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from analysis.typed_tables.table_reading import TableReading


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing about a table.

    Attributes:
        kind: a short word, such as ``average``; `docs/how-to/audit-and-merge.md` lists them.
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
        reading: what the columns of a table of scores were taken for; None of other tables.
    """

    findings: tuple[Finding, ...] = field(default=())
    notes: tuple[Finding, ...] = field(default=())
    reading: TableReading | None = None


def joined(audits: Sequence[Audit]) -> Audit:
    """The findings and notes of several audits, in their order."""
    return Audit(
        findings=tuple(finding for audit in audits for finding in audit.findings),
        notes=tuple(note for audit in audits for note in audit.notes),
        reading=next((audit.reading for audit in audits if audit.reading is not None), None),
    )
