"""Several studies side by side on one page."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.figures.series import Series, series_of
from analysis.page.html_page import Bullets, Cell, Column, Page, Paragraph, Section, Table
from analysis.report.verdict import answer_headline
from analysis.study_results.paired_studies import (
    PairedLoss,
    comparable_blocks,
    paired_losses,
    test_hashes,
)
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.wording import MISSING, counted, listed, range_below
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
    columns = [
        column
        for label, results in zip(labels, studies, strict=True)
        for column in Column.numbers(
            f"Mean {results.ranked_by.label}, %", "Rank", "Gain, points", group=label
        )
    ]
    table = Table(
        name="losses",
        caption="Tuned losses in each study: mean test score over the blocks that were ranked,"
        " rank by average rank, and gain over the published default on test",
        columns=(*Column.texts("Loss"), *columns),
        rows=tuple(
            (
                Cell.named(loss, series),
                *(cell for results in studies for cell in _loss_cells(results, loss)),
            )
            for loss in sorted(series)
        ),
        note="Mean scores of studies with other blocks are not comparable; ranks are within a"
        f" study. Ranked were {_ranked(studies, labels)}.",
        is_sortable=True,
    )
    return Section(name="losses-section", title="Losses", parts=(table,))


def _ranked(studies: Sequence[StudyResults], labels: _Labels) -> str:
    return listed(
        [
            f"{counted(len(results.tournament.blocks) if results.tournament else 0, 'block')}"
            f" of {label}"
            for label, results in zip(labels, studies, strict=True)
        ]
    )


def _loss_cells(results: StudyResults, loss: str) -> tuple[Cell, ...]:
    standings = results.tournament.standings if results.tournament else ()
    found = next((s for s in standings if s.competitor == loss), None)
    gains = results.overall.filter(loss=loss)["gain"].to_list() if loss in results.losses else []
    gain = None if not gains or gains[0] is None else PERCENT * gains[0]
    mean, place = (found.mean_score, found.place) if found else (None, None)
    return (Cell.number(mean), Cell.number(place, 0), Cell.signed(gain))


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
    heads = ("Blocks", "First, %", "Second, %", "First − second", "Won/tied/lost", "p", "p Holm")
    return Table(
        name="paired-losses",
        caption="Tuned test scores of one loss in two studies, paired by the blocks whose test"
        " hashes agree; the difference in points with its 95 % t interval over groups below",
        columns=(*Column.texts("Loss", "First", "Second"), *Column.numbers(*heads)),
        rows=tuple(
            (
                Cell(
                    text=pair.loss,
                    detail="other code" if _is_other_code(pair, studies) else "",
                    series=series[pair.loss],
                    order=pair.loss,
                ),
                Cell(text=labels[pair.first], order=pair.first),
                Cell(text=labels[pair.second], order=pair.second),
                Cell.count(pair.num_blocks),
                Cell.number(pair.mean_first),
                Cell.number(pair.mean_second),
                Cell.signed(
                    pair.difference.estimate,
                    detail=range_below(pair.difference.low, pair.difference.high),
                ),
                Cell(text=f"{pair.wins}/{pair.ties}/{pair.losses}"),
                Cell.p_value(pair.p_value),
                Cell.p_value(pair.p_holm),
            )
            for pair in pairs
        ),
        note="Groups: blocks of one data set and backbone. p: two-sided exact Wilcoxon signed-rank"
        " test over them; Holm: over the losses of two studies. Other code: what the loss names by"
        " import path was not recorded as the same in both studies.",
        is_sortable=True,
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
    rows = tuple(
        (Cell(text=key), *(Cell(text=values.get(key, MISSING)) for values in found))
        for key in sorted({key for values in found for key in values})
        if len({values.get(key, MISSING) for values in found}) > 1
    )
    table = Table(
        name="settings",
        caption="Keys of the resolved study files that differ, and, from “run.” on, what was"
        " recorded when the studies started",
        columns=Column.texts("Key", *labels),
        rows=rows,
    )
    same = Paragraph(text="The study files are the same.")
    return Section(
        name="differ",
        title="Differing settings",
        label="Settings",
        parts=(table,) if rows else (same,),
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
