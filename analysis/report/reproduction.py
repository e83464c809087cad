"""Reproduction: published results beside those of the study, one by one."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Fold, Paragraph, Part, Section, Table
from analysis.study_results.reproduction import (
    Comparison,
    RankComparison,
    Verdict,
    compare_ranks,
    compare_values,
)
from analysis.study_results.study_results import StudyResults
from analysis.wording import MISSING, counted, listed, number, signed
from orchestrator.results.records.expected_values import Expected, expected_of
from orchestrator.results.records.metric_columns import short_label

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
    values = compare_values(results, expected)
    ranks = compare_ranks(results, expected)
    tables = [
        *([_value_table(results, values, expected, series)] if values else []),
        *([_rank_table(ranks, series)] if ranks else []),
    ]
    parts: list[Part] = [
        Paragraph(text=sentence) for sentence in _sentences(values, ranks, expected)
    ]
    for table in tables:
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
    values: Sequence[Comparison], ranks: Sequence[RankComparison], expected: Expected
) -> Iterator[str]:
    if values:
        yield f"{_summary(values, 'value')}, as published in: {expected.source}."
        yield from _largest(values)
    if ranks:
        of_source = "" if values else f", as published in: {expected.source}"
        yield f"{_summary(ranks, 'average rank')}{of_source}."
    if expected.num_elsewhere:
        yield (
            f"{counted(expected.num_elsewhere, 'further value')} of the published table"
            f" {'is' if expected.num_elsewhere == 1 else 'are'} of blocks, losses or K that this"
            " study does not have."
        )


def _summary(items: Sequence[Comparison] | Sequence[RankComparison], noun: str) -> str:
    """``Of 3 published values 1 is reproduced, 1 differs and 1 was not run``."""
    counts = Counter(item.verdict for item in items)
    parts = [
        f"{counts[verdict]} {_PHRASES[verdict][counts[verdict] != 1]}"
        for verdict in _VERDICTS
        if counts[verdict] or verdict == "reproduced"
    ]
    return f"Of {counted(len(items), f'published {noun}')}, {listed(parts)}"


def _largest(values: Sequence[Comparison]) -> Iterator[str]:
    """The sign of the differences beyond tolerance, and the largest; nothing if there is none."""
    differing = [
        (value, value.difference)
        for value in values
        if value.difference is not None and value.verdict == "differs"
    ]
    if not differing:
        return
    worst, gap = max(differing, key=lambda item: (abs(item[1]), item[0].expected.block))
    below = sum(difference < 0 for _, difference in differing)
    side = (
        "all below what is published"
        if below == len(differing)
        else "all above what is published"
        if not below
        else f"{below} below what is published and {len(differing) - below} above"
    )
    where = f"{worst.expected.loss} in {worst.expected.block}"
    if len(differing) == 1:
        yield f"It is {where}, by {signed(gap)} points."
    else:
        yield f"Of those that differ, {side}; the most does {where}, by {signed(gap)} points."


def _value_table(
    results: StudyResults,
    values: Sequence[Comparison],
    expected: Expected,
    series: Mapping[str, Series],
) -> Table:
    labels = ("Block", "Loss", "Of", "Score")
    heads = ("Published", "Ours", "Difference", "Tolerance")
    return Table(
        name="reproduction",
        caption=f"{counted(len(values), 'published value')} beside ours on the test classes, in %:"
        " the mean over seeds and folds, with its 95 % t interval where there are several seeds."
        f" Source: {expected.source}.",
        columns=(*Column.texts(*labels), *Column.numbers(*heads), *Column.texts("Verdict")),
        rows=tuple(_value_row(results, value, series) for value in values),
        note="Reproduced: the difference is within the tolerance. Compatible: beyond it, but not"
        " beyond the tolerance and our interval together; what is published has an uncertainty of"
        " its own, rarely printed. The interval is over seeds of one config on one split."
        f"{_OF_IMPOSSIBLE if any(it.is_impossible for it in values) else ''}",
        is_sortable=True,
    )


def _value_row(
    results: StudyResults, value: Comparison, series: Mapping[str, Series]
) -> tuple[Cell, ...]:
    expected = value.expected
    of_what = expected.config or expected.finalist
    of = " ".join(filter(None, (of_what, expected.train_on, expected.protocol)))
    width = value.half_width
    seeds = counted(value.num_seeds, "seed") if value.num_seeds else ""
    failed = f"{value.num_failed} failed" if value.num_failed else ""
    detail = ", ".join(filter(None, ("" if width is None else f"±{number(width)}", seeds, failed)))
    return (
        Cell.word(expected.block),
        Cell.named(expected.loss, series),
        Cell.word(of),
        Cell(
            text=short_label(expected.metric or results.objective, expected.k),
            order=float(expected.k),
        ),
        Cell(text=f"{expected.value:g}", order=expected.value),
        Cell.number(value.ours, detail=detail),
        Cell.signed(value.difference),
        Cell(text=f"{expected.tolerance:g}", order=expected.tolerance),
        Cell(text=_verdict_text(value.verdict, value.difference), order=value.verdict),
    )


def _rank_table(ranks: Sequence[RankComparison], series: Mapping[str, Series]) -> Table:
    return Table(
        name="reproduced-ranks",
        caption=f"{counted(len(ranks), 'published average rank')} beside those of the tournament.",
        columns=(
            *Column.texts("Loss"),
            *Column.numbers("Published", "Ours", "Difference", "Tolerance"),
            *Column.texts("Verdict"),
        ),
        rows=tuple(_rank_row(rank, series) for rank in ranks),
        is_sortable=True,
    )


def _rank_row(rank: RankComparison, series: Mapping[str, Series]) -> tuple[Cell, ...]:
    gap = None if rank.ours is None else rank.ours - rank.published
    return (
        Cell.named(rank.loss, series),
        Cell(text=f"{rank.published:g}", order=rank.published),
        Cell.number(rank.ours),
        Cell.signed(gap),
        Cell(text=f"{rank.tolerance:g}", order=rank.tolerance),
        Cell(text=_verdict_text(rank.verdict, gap), order=rank.verdict),
    )


def _verdict_text(verdict: Verdict, gap: float | None) -> str:
    """``differs by 1.20``."""
    if verdict == "impossible":
        return "impossible as printed"
    if verdict != "differs" or gap is None:
        return verdict or MISSING
    return f"differs by {number(abs(gap))}"
