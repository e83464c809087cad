"""Fairness: what the losses of a study share, what differs, and what the stored trials say."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Fold, Paragraph, Section, Table
from analysis.study_results.recorded_fairness import CHECKED, FairnessCheck, used_budgets
from analysis.study_results.study_results import StudyResults
from analysis.wording import MISSING, counted, listed
from orchestrator.results.records.fairness_record import Disparity, Fairness, summarise_differences

_STAGE_WORDS = {
    "search": "searches",
    "winners": "finals of winners",
    "defaults": "finals of defaults",
}


def fairness(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section: what differs and who declared it, what the trials say, and what is the same."""
    planned = results.fairness
    agreed = _agreed(results.fairness_checks)
    parts = (
        Paragraph(text=_lead(results)),
        _differences(planned.disparities) if planned and planned.disparities else None,
        Paragraph(text=agreed) if agreed else None,
        _recorded(results.fairness_checks),
        _folded_budgets(results, series),
        Fold(summary="Everything that was planned to be the same", parts=(_equal(planned),))
        if planned
        else None,
    )
    return Section(
        name="fairness", title="Fairness", parts=tuple(part for part in parts if part is not None)
    )


def fairness_note(results: StudyResults) -> tuple[Markup, ...]:
    """The line below the leaderboard; empty if nothing differs."""
    if not (text := unequal_text(results)):
        return ()
    line = (
        '<p class="table-note">Not equal between the losses: {}.'
        ' See <a href="#fairness">Fairness</a>.</p>'
    )
    return (Markup(line).format(text),)


def unequal_text(results: StudyResults) -> str:
    """What the plan lets differ, without a period; empty if nothing does."""
    return summarise_differences(results.fairness.disparities) if results.fairness else ""


def fairness_sentences(results: StudyResults) -> Iterator[str]:
    """Sentences for the summary: what the plan lets differ, and what the trials themselves add."""
    if text := unequal_text(results):
        yield f"The losses were not equal in {text}."
    differing = [item for item in results.fairness_checks if item.disparities]
    columns = dict.fromkeys(item.column for item in differing)
    if found := [_found([it for it in differing if it.column == column]) for column in columns]:
        yield f"The stored trials of the losses also differ in {listed(found)}: see Fairness."


def _lead(results: StudyResults) -> str:
    if len(results.losses) < 2:
        return "With one loss there is nothing to compare."
    if results.fairness is None:
        return (
            "What differs between the losses was not recorded when this study started; what its"
            " trials say is below."
        )
    shared = "The losses of a block share its data, splits, seeds, network and budget"
    if text := unequal_text(results):
        return f"{shared}. Apart from their formulas they differ in {text}."
    return f"{shared}, and are trained alike: only their formulas differ."


def _differences(disparities: Sequence[Disparity]) -> Table:
    heads = ("What", "Values", "Where", "Declared by", "Reason")
    return Table(
        name="fairness-differences",
        caption="Differences between the losses apart from their formulas",
        columns=Column.texts(*heads),
        rows=tuple(
            (
                Cell(text=item.label),
                Cell(text=item.values),
                Cell(text=item.where.removeprefix("in ") or "everywhere"),
                Cell(text="the loss itself" if item.area == "loss" else item.by or MISSING),
                Cell(text=item.reason or MISSING),
            )
            for item in disparities
        ),
        note="Losses that do not use a setting are not listed for it. The same budget has to"
        " cover more where more hyperparameters are searched.",
    )


def _folded_budgets(results: StudyResults, series: Mapping[str, Series]) -> Fold | None:
    table = _budgets(results, series)
    return Fold(summary="Budgets that searches used", parts=(table,)) if table else None


def _budgets(results: StudyResults, series: Mapping[str, Series]) -> Table | None:
    planned = results.planned_trials
    used = used_budgets(results.trials, planned)
    if used.is_empty():
        return None
    has_protocols = used["protocol"].n_unique() > 1
    shown = {protocol.label: protocol.shown for protocol in results.protocols}
    rows = tuple(
        _budget_row({**row, "protocol": shown[row["protocol"]]}, planned, series, has_protocols)
        for row in used.to_dicts()
    )
    labels = ("Trials a search", "Epochs a search", "Stopped early", "Failed", "Tested winners")
    protocol = Column.texts("Protocol") if has_protocols else ()
    return Table(
        name="fairness-budgets",
        caption=f"Budgets that searches used; {counted(planned, 'trial')} were planned for each."
        " Epochs are the mean over searches: those of trials that were stopped early are fewer.",
        columns=(*Column.texts("Loss"), *protocol, *Column.numbers(*labels)),
        rows=rows,
    )


def _budget_row(
    row: Mapping[str, Any], planned: int, series: Mapping[str, Series], has_protocols: bool
) -> tuple[Cell, ...]:
    low, high = row["fewest_trials"], row["most_trials"]
    short = row["short_searches"]
    searches = counted(short, "search has fewer", "searches have fewer")
    tested = row["finals"] - row["failed_finals"]
    return (
        Cell.named(row["loss"], series),
        *((Cell(text=row["protocol"]),) if has_protocols else ()),
        Cell(
            text=str(low) if low == high else f"{low} to {high}",
            detail=searches if short else "",
            order=low,
        ),
        Cell.number(row["mean_epochs"], 1),
        Cell(text=f"{row['pruned']:,}", order=row["pruned"]),
        Cell(text=f"{row['failed']:,}", order=row["failed"]),
        Cell(text=f"{tested:,} of {row['finals']:,}", order=tested),
    )


def _agreed(found: Sequence[FairnessCheck]) -> str:
    """One sentence on all that is the same wherever it was compared; empty if nothing is."""
    compared = [item for item in found if item.num_groups]
    if not compared:
        return ""
    differing = {item.column for item in compared if item.disparities}
    same = [
        CHECKED[column]
        for column in dict.fromkeys(item.column for item in compared)
        if column not in differing
    ]
    if not same:
        return ""
    return (
        f"By the stored trials, all losses of a block had the same {listed(same)}, in searches and"
        " finals."
    )


def _recorded(found: Sequence[FairnessCheck]) -> Table | None:
    rows = [
        (
            Cell(text=CHECKED[item.column]),
            Cell(text=_STAGE_WORDS[item.stage]),
            Cell(text=disparity.values),
            Cell(text=disparity.where.removeprefix("in ")),
        )
        for item in found
        for disparity in item.disparities
    ]
    if not rows:
        return None
    return Table(
        name="fairness-recorded",
        caption="Differences between the stored trials of the losses",
        columns=Column.texts("What", "In", "Values", "Where"),
        rows=tuple(rows),
        note="Seeds and splits of finals are those of runs that did not fail.",
    )


def _found(items: Sequence[FairnessCheck]) -> str:
    """``device (searches and finals of winners, 2 blocks)``."""
    disparities = [disparity for item in items for disparity in item.disparities]
    places = [place for disparity in disparities for place in disparity.blocks]
    blocks = {place.partition(" under ")[0] for place in places}
    stages = listed([_STAGE_WORDS[item.stage] for item in items])
    return f"{CHECKED[items[0].column]} ({stages}, {counted(len(blocks), 'block')})"


def _equal(planned: Fairness) -> Table:
    return Table(
        name="fairness-equal",
        caption="The same for all losses of a block; settings of training by their keys",
        columns=Column.texts("What", "Value"),
        rows=tuple(
            (Cell(text=name), Cell(text=value))
            for name, value in (*planned.equal.items(), *planned.settings.items())
        ),
    )
