"""``podium audit``: what is wrong with a published table."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.arguments.shipped_files import or_shipped
from podium.arguments.table_argument import (
    Average,
    Competitor,
    LowerIsBetter,
    Score,
    Without,
    names_given,
)
from podium.terminal.printing import AsJson, print_json, say

if TYPE_CHECKING:
    from analysis.audit.findings import Finding

_WIDTH = 80
_FOUND = 1


def command(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A table (CSV, LaTeX, Markdown, Parquet): scores, ranks, a tournament's totals,"
            " or folds.",
        ),
    ],
    published: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A tournament's table that claims to summarise these scores or ranks.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS",
            help="Columns that together name a block; default: those of dataset,backbone,"
            "embedding_dim that there are.",
        ),
    ] = None,
    competitor: Competitor = None,
    score: Score = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE",
            help="Check such rows only; k=1: at all K, with verdicts of that one. Repeatable.",
        ),
    ] = None,
    average: Average = None,
    without: Without = None,
    lower_is_better: LowerIsBetter = False,
    blocks: Annotated[
        int | None,
        typer.Option(min=1, help="Blocks of a tournament; default: what its rows agree on."),
    ] = None,
    claim: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=MEAN±SD",
            help="What is claimed of a column of folds, as in recall=63.61+-0.59. Repeatable.",
        ),
    ] = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if there are findings.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Find what is wrong with a table, such as one from a paper.

    Findings are impossible or inconsistent: recall that falls with K, wrong averages, deviations
    that no ranks have, missing and repeated cells. Notes are no errors: ties, the verdict under
    each test, how stable the podium is.

    Example: podium audit scores.csv --by dataset,backbone --published tournament.csv
    """
    from analysis.audit.audit_table import AuditOptions, audit_file

    audit = audit_file(
        or_shipped(file),
        AuditOptions(
            by=None if by is None else names_given(by, "by"),
            competitor=competitor,
            score=score,
            where=where or (),
            average=names_given(average, "average") if average is not None else (),
            published=None if published is None else or_shipped(published),
            blocks=blocks,
            claims=claim or (),
            without=without or (),
            lower_is_better=lower_is_better,
        ),
    )
    if audit.reading is not None:
        say(audit.reading.line(), err=True)
    if as_json:
        record = {"findings": _records(audit.findings), "notes": _records(audit.notes)}
        print_json({**record, "read_as": audit.reading and audit.reading.record()})
    else:
        say(_text(audit.findings, audit.notes))
    return _FOUND if exit_code and audit.findings else 0


def _records(items: "Sequence[Finding]") -> list[dict[str, str]]:
    return [{"kind": item.kind, "where": item.where, "message": item.message} for item in items]


def _text(findings: "Sequence[Finding]", notes: "Sequence[Finding]") -> str:
    count = len(findings)
    title = f"{count or 'No'} finding{'' if count == 1 else 's'}"
    parts = [title, *_groups(findings)]
    if notes:
        parts += ["Notes", *_groups(notes)]
    return "\n\n".join(parts)


def _groups(items: "Sequence[Finding]") -> list[str]:
    """One paragraph a kind, in the order in which kinds first come."""
    kinds = list(dict.fromkeys(item.kind for item in items))
    return ["\n".join([f"{kind}:", *_lines(items, kind)]) for kind in kinds]


def _lines(items: "Sequence[Finding]", kind: str) -> list[str]:
    return [
        textwrap.fill(
            f"{item.where}: {item.message}",
            _WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
        for item in items
        if item.kind == kind
    ]
