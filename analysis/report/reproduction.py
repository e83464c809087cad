"""Reproduction: published results beside those of the study, one by one."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import get_args

from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Fold, Paragraph, Part, Section, Table
from analysis.study_results.reproduction import (
    Comparison,
    Verdict,
    compare_ranks,
    compare_values,
)
from analysis.study_results.study_results import StudyResults
from analysis.wording import counted, listed, number, signed
from orchestrator.results.records.expected_values import Expected, ExpectedValue, expected_of
from orchestrator.results.records.metric_columns import short_label

_Value = tuple[ExpectedValue, Comparison]

_COMPARED = (
    *Column.numbers("Published", "Ours", "Difference", "Tolerance"),
    *Column.texts("Verdict"),
)
_MOST_SHOWN = 24  # rows of a table that is not folded
_VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
_PHRASES: Mapping[Verdict, tuple[str, str]] = {
    "reproduced": ("is reproduced", "are reproduced"),
    "compatible": ("is compatible within both uncertainties", "are compatible within both"),
    "differs": ("differs", "differ"),
    "not run": ("was not run", "were not run"),
    "impossible": ("is impossible as printed", "are impossible as printed"),
}
_OF_IMPOSSIBLE = (
    " Impossible as printed: recall falls as K grows, so that some value of the row is misprinted"
    " and none of it is compared."
)


def reproduction(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section: what is reproduced, what differs by how much; None if nothing is expected."""
    expected = expected_of(results.study)
    if expected is None:
        return None
    values = [*zip(expected.values, compare_values(results, expected), strict=True)]
    ranks = compare_ranks(results, expected)
    parts: list[Part] = [
        Paragraph(text=sentence) for sentence in _sentences(values, ranks, expected)
    ]
    for table in (
        _value_table(results, values, expected, series) if values else None,
        _rank_table(ranks, series) if ranks else None,
    ):
        if table is None:
            continue
        if len(table.rows) > _MOST_SHOWN:
            parts.append(Fold(summary=f"All {len(table.rows)} values", parts=(table,)))
        else:
            parts.append(table)
    return Section(
        name="reproduction",
        title="Reproduction of published results",
        label="Reproduction",
        parts=tuple(parts),
    )


def _sentences(
    values: Sequence[_Value], ranks: Mapping[str, Comparison], expected: Expected
) -> Iterator[str]:
    if values:
        found = [comparison for _, comparison in values]
        yield f"{_summary(found, 'value')}, as published in: {expected.source}."
        yield from _largest(values)
    if ranks:
        of_source = "" if values else f", as published in: {expected.source}"
        yield f"{_summary(ranks.values(), 'average rank')}{of_source}."
    if expected.num_elsewhere:
        yield (
            f"{counted(expected.num_elsewhere, 'further value')} of the published table"
            f" {'is' if expected.num_elsewhere == 1 else 'are'} of blocks, losses or K that this"
            " study does not have."
        )


def _summary(items: Collection[Comparison], noun: str) -> str:
    """``Of 3 published values 1 is reproduced, 1 differs and 1 was not run``."""
    counts = Counter(item.verdict for item in items)
    parts = [
        f"{counts[verdict]} {_PHRASES[verdict][counts[verdict] != 1]}"
        for verdict in _VERDICTS
        if counts[verdict] or verdict == "reproduced"
    ]
    return f"Of {counted(len(items), f'published {noun}')}, {listed(parts)}"


def _largest(values: Sequence[_Value]) -> Iterator[str]:
    """The sign of the differences beyond tolerance, and the largest; nothing if there is none."""
    differing = [
        (expected, value.difference)
        for expected, value in values
        if value.difference is not None and value.verdict == "differs"
    ]
    if not differing:
        return
    worst, gap = max(differing, key=lambda item: (abs(item[1]), item[0].block))
    below = sum(difference < 0 for _, difference in differing)
    side = (
        "all below what is published"
        if below == len(differing)
        else "all above what is published"
        if not below
        else f"{below} below what is published and {len(differing) - below} above"
    )
    where = f"{worst.loss} in {worst.block}"
    if len(differing) == 1:
        yield f"It is {where}, by {signed(gap)} points."
    else:
        yield f"Of those that differ, {side}; the most does {where}, by {signed(gap)} points."


def _value_table(
    results: StudyResults,
    values: Sequence[_Value],
    expected: Expected,
    series: Mapping[str, Series],
) -> Table:
    labels = ("Block", "Loss", "Of", "Score")
    misprinted = any(value.is_impossible for _, value in values)
    return Table(
        name="reproduction",
        caption=f"{counted(len(values), 'published value')} beside ours on the test classes, in %:"
        " the mean over seeds and folds, with its 95 % t interval where there are several seeds."
        f" Source: {expected.source}.",
        columns=(*Column.texts(*labels), *_COMPARED),
        rows=tuple(_value_row(results, *value, series) for value in values),
        note="Reproduced: the difference is within the tolerance. Compatible: beyond it, but not"
        " beyond the tolerance and our interval together; what is published has an uncertainty of"
        " its own, rarely printed. The interval is over seeds of one config on one split."
        f"{_OF_IMPOSSIBLE if misprinted else ''}",
        is_sortable=True,
    )


def _value_row(
    results: StudyResults, expected: ExpectedValue, value: Comparison, series: Mapping[str, Series]
) -> tuple[Cell, ...]:
    of_what = expected.config or expected.finalist
    of = " ".join(filter(None, (of_what, expected.train_on, expected.protocol)))
    width = value.half_width
    seeds = counted(value.num_seeds, "seed") if value.num_seeds else ""
    failed = f"{value.num_failed} failed" if value.num_failed else ""
    detail = ", ".join(filter(None, ("" if width is None else f"±{number(width)}", seeds, failed)))
    score = short_label(expected.metric or results.objective, expected.k)
    return (
        Cell.word(expected.block),
        Cell.named(expected.loss, series),
        Cell.word(of),
        Cell(text=score, order=float(expected.k)),
        *_compared(value, detail),
    )


def _rank_table(ranks: Mapping[str, Comparison], series: Mapping[str, Series]) -> Table:
    return Table(
        name="reproduced-ranks",
        caption=f"{counted(len(ranks), 'published average rank')} beside those of the tournament.",
        columns=(*Column.texts("Loss"), *_COMPARED),
        rows=tuple((Cell.named(loss, series), *_compared(it)) for loss, it in ranks.items()),
        is_sortable=True,
    )


def _compared(value: Comparison, detail: str = "") -> tuple[Cell, ...]:
    """The cells of `_COMPARED`."""
    verdict, gap = value.verdict, value.difference
    text: str = verdict
    if verdict == "impossible":
        text = "impossible as printed"
    elif verdict == "differs" and gap is not None:
        text = f"differs by {number(abs(gap))}"
    return (
        Cell(text=f"{value.published:g}", order=value.published),
        Cell.number(value.ours, detail=detail),
        Cell.signed(gap),
        Cell(text=f"{value.tolerance:g}", order=value.tolerance),
        Cell(text=text, order=verdict),
    )
