"""Reproduction: published results beside those of the study, one by one."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import get_args

from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Fold, Paragraph, Part, Section
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.study_results.reproduction import (
    Comparison,
    Verdict,
    compare_ranks,
    compare_values,
)
from podium.analysis.study_results.study_results import StudyResults
from podium.analysis.wording import counted, listed, number, signed
from podium.orchestrator.results.records.expected_values import (
    Expected,
    ExpectedValue,
    expected_of,
)
from podium.orchestrator.results.records.metric_columns import short_label

_Value = tuple[ExpectedValue, Comparison]

_MOST_SHOWN = 24  # rows of a table that is not folded
_VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
_PHRASES: Mapping[Verdict, tuple[str, str]] = {
    "reproduced": ("is reproduced", "are reproduced"),
    "compatible": ("is compatible within both uncertainties", "are compatible within both"),
    "differs": ("differs", "differ"),
    "not run": ("was not run", "were not run"),
    "impossible": ("is impossible as printed", "are impossible as printed"),
}
_STATISTICS = {"test": "", "validation": ", validation", "sd": ", sd over folds"}
_OF_STATISTICS = (
    " Where the score says validation, it is that of the best epoch. Folds of one number are of"
    " other classes unless both studies split alike."
)
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
    tables = [
        *([_value_table(results, values, expected, series)] if values else []),
        *([_rank_table(ranks, series)] if ranks else []),
    ]
    parts += [
        Fold(summary=f"All {len(shown.rows)} values", parts=(shown,))
        if len(shown.rows) > _MOST_SHOWN
        else shown
        for shown in tables
    ]
    return Section(
        name="reproduction",
        title="Reproduction",
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
            f" {'is' if expected.num_elsewhere == 1 else 'are'} of settings, losses or K that this"
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
    def of(value: ExpectedValue) -> str:
        what = value.config or value.finalist
        fold = f"fold {value.fold}" if value.fold else ""
        return " ".join(filter(None, (what, value.train_on, value.protocol, fold)))

    def score(value: ExpectedValue) -> str:
        label = short_label(value.metric or results.objective, value.k)
        return label + _STATISTICS[value.statistic]

    def runs(value: Comparison) -> str:
        width = "" if value.half_width is None else f"±{number(value.half_width)}"
        seeds = counted(value.num_seeds, "seed") if value.num_seeds else ""
        failed = f"{value.num_failed} failed" if value.num_failed else ""
        return ", ".join(filter(None, (width, seeds, failed)))

    has_others = any(value.fold or value.statistic != "test" for value, _ in values)
    misprinted = any(value.is_impossible for _, value in values)
    return table(
        values,
        (
            Column.text("Setting", lambda row: row[0].block),
            Column.named("Loss", lambda row: row[0].loss, series),
            Column.text("Of", lambda row: of(row[0])),
            Column.text(
                "Score",
                lambda row: score(row[0]),
                order=lambda row: float(row[0].k),
            ),
            *_compared(runs),
        ),
        name="reproduction",
        caption=f"{counted(len(values), 'published value')} beside ours on the test classes, in %:"
        " the mean over seeds and folds, with its 95 % t interval where there are several seeds."
        f" Source: {expected.source}.",
        note="Reproduced: the difference is within the tolerance. Compatible: beyond it, but not"
        " beyond the tolerance and our interval together; what is published has an uncertainty of"
        " its own, rarely printed. The interval is over seeds of one config on one split."
        f"{_OF_STATISTICS if has_others else ''}{_OF_IMPOSSIBLE if misprinted else ''}",
    )


def _rank_table(ranks: Mapping[str, Comparison], series: Mapping[str, Series]) -> Table:
    return table(
        ranks.items(),
        (Column.named("Loss", 0, series), *_compared(lambda _: "")),
        name="reproduced-ranks",
        caption=f"{counted(len(ranks), 'published average rank')} beside those of the tournament.",
    )


def _compared(runs: Callable[[Comparison], str]) -> Iterator[Column]:
    """Columns of comparisons, which are the second of each row; ``runs`` stands below ours."""

    def verdict(row: tuple[object, Comparison]) -> str:
        value = row[1]
        if value.verdict == "impossible":
            return "impossible as printed"
        if value.verdict == "differs" and value.difference is not None:
            return f"differs by {number(abs(value.difference))}"
        return value.verdict

    def as_printed(value: float | None, _: int) -> str:
        return f"{value:g}"

    yield Column.number("Published", lambda row: row[1].published, write=as_printed)
    yield Column.number("Ours", lambda row: row[1].ours, below=lambda row: runs(row[1]))
    yield Column.signed("Difference", lambda row: row[1].difference)
    yield Column.number("Tolerance", lambda row: row[1].tolerance, write=as_printed)
    yield Column.text("Verdict", verdict, order=lambda row: row[1].verdict)
