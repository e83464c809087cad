"""Several studies side by side on one page."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from podium.analysis.figures.series import Series, series_of
from podium.analysis.page.html_page import Bullets, Page, Paragraph, Section
from podium.analysis.page.tables import Cell, Column, Table, table
from podium.analysis.report.verdict import answer_headline
from podium.analysis.study_results.paired_studies import (
    PairedLoss,
    comparable_blocks,
    paired_losses,
    test_hashes,
)
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.wording import MISSING, counted, listed
from podium.errors import PodiumError

_NOT_COMPARED = ("study", "name", "storage", "fairness")
_Labels = Sequence[str]


def studies_report(studies: Sequence[StudyResults]) -> Page:
    """The page of at least two studies as values.

    Args:
        studies: results of the studies, in the order of the page.

    Raises:
        PodiumError: one study is given twice.
    """
    labels = _labels(studies)
    series = series_of([loss for results in studies for loss in results.losses])
    return Page(
        title=" · ".join(labels),
        subtitle=f"{counted(len(studies), 'study', 'studies')} side by side",
        series=tuple(series.values()),
        sections=(
            _answers(studies, labels),
            _losses(studies, labels, series),
            _compared(studies, labels, series),
            _settings(studies, labels),
        ),
    )


def _labels(studies: Sequence[StudyResults]) -> tuple[str, ...]:
    """The studies' names; where two have the same, with the differing part of their folders."""
    names = [results.name for results in studies]
    folders = [results.folder.resolve() for results in studies]
    if len(set(folders)) < len(folders):
        raise PodiumError(f"studies side by side must be different ones; got {listed(names)}")
    here = [folder.parent for folder in folders if isinstance(folder, Path)]
    shared = os.path.commonpath(here) if here else ""
    return tuple(
        name
        if names.count(name) == 1
        else f"{name} in {str(folder).removeprefix(f'{shared}{os.sep}')}"
        for name, folder in zip(names, folders, strict=True)
    )


def _answers(studies: Sequence[StudyResults], labels: _Labels) -> Section:
    answers = [
        f"{label}: {answer_headline(results)}"
        for label, results in zip(labels, studies, strict=True)
    ]
    return Section(
        name="answer",
        title="Answers",
        parts=(
            Paragraph(text=_lead(studies, labels), style="lead"),
            Bullets(items=tuple(answers)),
        ),
    )


def _lead(studies: Sequence[StudyResults], labels: _Labels) -> str:
    sentences = []
    for j, second in enumerate(studies):
        for i, first in enumerate(studies[:j]):
            count = len(comparable_blocks(first, second))
            pair = f"{labels[i]} and {labels[j]}"
            sentences.append(
                f"{pair} were tested on the same images in {counted(count, 'block')}."
                if count
                else f"The scores of {pair} are not comparable: {_why_not(first, second)}."
            )
    return " ".join(sentences)


def _why_not(first: StudyResults, second: StudyResults) -> str:
    if (first.objective, first.k) != (second.objective, second.k):
        return f"{first.metric} is not {second.metric}"
    if not set(test_hashes(first)) & set(test_hashes(second)):
        return "they share no tested block"
    return "their test classes or images differ in every block they share"


def _losses(
    studies: Sequence[StudyResults], labels: _Labels, series: Mapping[str, Series]
) -> Section:
    losses = table(
        sorted(series),
        (
            Column.named("Loss", str, series),
            *(
                column
                for label, results in zip(labels, studies, strict=True)
                for column in _of_study(results, label)
            ),
        ),
        name="losses",
        caption="Tuned losses in each study: mean test score over the blocks that were ranked,"
        " rank by average rank, and gain over the published default on test",
        note="Mean scores of studies with other blocks are not comparable; ranks are within a"
        f" study. Ranked were {_ranked(studies, labels)}.",
    )
    return Section(name="losses-section", title="Losses", parts=(losses,))


def _of_study(results: StudyResults, label: str) -> Iterator[Column]:
    """Columns of a study, whose rows are losses."""
    standings = results.tournament.standings if results.tournament else ()
    means = {standing.competitor: standing.mean_score for standing in standings}
    places = {standing.competitor: standing.place for standing in standings}
    has_gains = not results.selection.is_empty()
    gains = dict(results.overall.select("loss", "gain").iter_rows()) if has_gains else {}
    yield Column.number(f"Mean {results.ranked_by.label}, %", means.get, group=label)
    yield Column.number("Rank", places.get, 0, group=label)
    yield Column.signed("Gain, points", gains.get, factor=PERCENT, group=label)


def _ranked(studies: Sequence[StudyResults], labels: _Labels) -> str:
    return listed(
        [
            f"{counted(len(results.tournament.blocks) if results.tournament else 0, 'block')}"
            f" of {label}"
            for label, results in zip(labels, studies, strict=True)
        ]
    )


def _compared(
    studies: Sequence[StudyResults], labels: _Labels, series: Mapping[str, Series]
) -> Section:
    pairs = paired_losses(studies)
    nothing = Paragraph(text="No loss was tested on the same images by two of these studies.")
    return Section(
        name="compared",
        title="Paired comparisons of studies",
        label="Paired comparisons",
        parts=(_pair_table(pairs, studies, labels, series),) if pairs else (nothing,),
    )


def _pair_table(
    pairs: Sequence[PairedLoss],
    studies: Sequence[StudyResults],
    labels: _Labels,
    series: Mapping[str, Series],
) -> Table:
    def loss(pair: PairedLoss) -> Cell:
        detail = "other code" if _is_other_code(pair, studies) else ""
        return Cell(text=pair.loss, detail=detail, series=series[pair.loss], order=pair.loss)

    return table(
        pairs,
        (
            Column(label="Loss", cell=loss, is_number=False),
            Column.text("First", lambda pair: labels[pair.first], order="first"),
            Column.text("Second", lambda pair: labels[pair.second], order="second"),
            Column.count("Blocks", "num_blocks"),
            Column.number("First, %", "mean_first"),
            Column.number("Second, %", "mean_second"),
            Column.signed(
                "First − second",
                "difference.estimate",
                below=("difference.low", "difference.high"),
            ),
            Column.text(
                "Won/tied/lost",
                lambda pair: f"{pair.wins}/{pair.ties}/{pair.losses}",
                order="wins",
                is_number=True,
            ),
            Column.p_value("p", "p_value"),
            Column.p_value("p Holm", "p_holm"),
        ),
        name="paired-losses",
        caption="Tuned test scores of one loss in two studies, paired by the blocks whose test"
        " hashes agree; the difference in points with its 95 % t interval over groups below",
        note="Groups: blocks of one data set and backbone. p: two-sided exact Wilcoxon signed-rank"
        " test over them; Holm: over the losses of two studies. Other code: what the loss names by"
        " import path was not recorded as the same in both studies.",
    )


def _is_other_code(pair: PairedLoss, studies: Sequence[StudyResults]) -> bool:
    """Whether the loss was other code in one study than in the other, or may have been."""
    first, second = (studies[index].study.get("code", {}) for index in (pair.first, pair.second))
    named = [path for path in first.keys() | second.keys() if path in pair.loss]
    return any(first.get(path) != second.get(path) for path in named)


def _settings(studies: Sequence[StudyResults], labels: _Labels) -> Section:
    found = [
        {**_flat(results.study), **_flat(results.reader.provenance(), "run.")}
        for results in studies
    ]
    keys = [
        key
        for key in sorted({key for values in found for key in values})
        if len({values.get(key, MISSING) for values in found}) > 1
    ]
    differing = table(
        keys,
        (
            Column.text("Key", str),
            *(Column.text(label, values.get) for label, values in zip(labels, found, strict=True)),
        ),
        name="settings",
        caption="Keys of the resolved study files that differ, and, from “run.” on, what was"
        " recorded when the studies started",
    )
    same = Paragraph(text="The study files are the same.")
    return Section(
        name="differ",
        title="Differing settings",
        label="Settings",
        parts=(differing,) if keys else (same,),
    )


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested keys joined by periods, values as text, without those that name the study."""
    flat: dict[str, str] = {}
    for name, value in values.items():
        if prefix in ("", "run.") and name in _NOT_COMPARED:
            continue
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            flat[f"{prefix}{name}"] = text
    return flat
