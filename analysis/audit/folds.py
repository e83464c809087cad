"""Audits a mean and standard deviation against the folds or seeds that they summarise.

The folds are printed themselves: each may be off by half a unit of its last digit. A printed mean
is right if some folds that print so have a mean that prints so, and a deviation likewise; it may
be off by the two half units together. A deviation changes by no more than sqrt(n / (n - ddof))
half units of the folds, since a deviation is a norm. ``ddof`` is 1 for the sample standard
deviation and 0 for that of a population.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from analysis.audit.deviations import KIND, exact_sd
from analysis.audit.findings import Audit, Finding
from analysis.typed_tables.printed_numbers import (
    TRUNCATED,
    Printed,
    fits,
    misprint,
    printed_column,
    root,
    shown,
)
from podium.errors import PodiumError

_CLAIM = re.compile(r"\s*(.+?)\s*=\s*([^±]+?)\s*(?:±|\+/-|\+-)\s*(.+?)\s*")
_PERCENT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A printed mean and standard deviation of a column; None is what is not claimed."""

    column: str
    mean: Printed | None
    sd: Printed | None


def parse_claim(text: str) -> Claim:
    """Read ``test=63.61±0.59`` or ``test=63.61+-0.59``.

    Raises:
        PodiumError: the text has another form, or a side is no number.
    """
    match = _CLAIM.fullmatch(text)
    if match is None:
        raise PodiumError(f"a claim must look like recall=63.61±0.59 (or +-); got {text!r}")
    column, *numbers = match.groups()
    mean, sd = (
        printed_column([number], column=column, source=f"--claim {text}")[0] for number in numbers
    )
    return Claim(column=column, mean=mean, sd=sd)


def audit_folds(
    column: str, values: Sequence[Printed | None], claims: Sequence[Claim] = ()
) -> Audit:
    """Check one column of folds, and what is claimed of it.

    Args:
        column: name of the column.
        values: score of each fold as printed; None where it is missing.
        claims: means and deviations that are claimed of this column.
    """
    known = [value for value in values if value is not None]
    findings = [*_missing(column, values), *_range(column, values)]
    notes = []
    if len(known) > 1:
        exact = [value.value for value in known]
        mean = sum(exact, Fraction(0)) / len(exact)
        decimals = known[0].decimals + 1
        sds = {ddof: shown(exact_sd(exact, ddof), decimals) for ddof in (1, 0)}
        notes.append(
            Finding(
                kind="folds",
                where=column,
                message=f"mean {shown(mean, decimals)}, {KIND[1]} {sds[1]} ({KIND[0]}"
                f" {sds[0]}) over {len(known)} folds",
            )
        )
        for claim in claims:
            findings += _mean_findings(claim, known)
            found = _sd_finding(claim, known)
            (findings if found and found.kind != "folds" else notes).extend(
                [found] if found else []
            )
    elif claims:
        message = f"{len(known)} folds have no mean ± sd to compare with what is claimed"
        notes.append(Finding(kind="folds", where=column, message=message))
    return Audit(findings=tuple(findings), notes=tuple(notes))


def repeated_folds(rows: Sequence[tuple[object, ...]], fold: int) -> Audit:
    """A finding for each fold that a table names twice, whatever its scores.

    Args:
        rows: cells of each row that are no scores: the fold, and what else tells rows apart.
        fold: index of the fold among them.
    """
    findings = tuple(
        Finding(kind="duplicate", where=f"fold {row[fold]}", message=f"has {count} rows")
        for row, count in Counter(rows).items()
        if count > 1
    )
    return Audit(findings=findings)


def _missing(column: str, values: Sequence[Printed | None]) -> Iterator[Finding]:
    for row, value in enumerate(values, start=1):
        if value is None:
            yield Finding(kind="missing", where=f"{column}, row {row}", message="has no value")


def _range(column: str, values: Sequence[Printed | None]) -> Iterator[Finding]:
    if "recall" not in column.lower():
        return
    for row, value in enumerate(values, start=1):
        if value is not None and not 0 <= value.value <= _PERCENT:
            message = f"holds {value}, a recall lies within 0 and {_PERCENT}"
            yield Finding(kind="impossible", where=f"{column}, row {row}", message=message)


def _mean_findings(claim: Claim, known: Sequence[Printed]) -> Iterator[Finding]:
    if claim.mean is None:
        return
    true = sum((value.value for value in known), Fraction(0)) / len(known)
    if not _fits(claim.mean, true, known[0].half_unit):
        yield _wrong(
            claim.column, claim.mean, true, kind="mean", what=f"mean of {len(known)} folds"
        )


def _sd_finding(claim: Claim, known: Sequence[Printed]) -> Finding | None:
    """A finding on a claimed deviation; of kind ``folds`` if it is right."""
    if claim.sd is None:
        return None
    n, exact = len(known), [value.value for value in known]
    true = {ddof: exact_sd(exact, ddof) for ddof in (1, 0)}
    right = [
        ddof
        for ddof, sd in true.items()
        if _fits(claim.sd, sd, known[0].half_unit * root(Fraction(n, n - ddof)))
    ]
    where = claim.column
    if not right:
        return _wrong(where, claim.sd, true[1], kind="sd", what=f"{KIND[1]} of {n} folds")
    if right == [0]:
        return Finding(
            kind="ddof",
            where=where,
            message=f"{claim.sd} is the {KIND[0]}; the {KIND[1]}, which an estimate over"
            f" {n} folds has to be, is {shown(true[1], claim.sd.decimals)}",
        )
    fitting = " and the ".join(KIND[ddof] for ddof in right)
    return Finding(kind="folds", where=where, message=f"{claim.sd} fits the {fitting}")


def _fits(printed: Printed, true: Fraction, slack: Fraction) -> bool:
    return fits(printed, true - slack, true + slack)


def _wrong(where: str, printed: Printed, true: Fraction, *, kind: str, what: str) -> Finding:
    cause = misprint(printed, true)
    return Finding(
        kind="truncated" if cause == TRUNCATED else kind,
        where=where,
        message=f"printed {printed}, should be {shown(true, printed.decimals)}: the {what} is"
        f" {shown(true, printed.decimals + 2)}{f' ({cause})' if cause else ''}",
    )
