"""Fairness: what the losses of a study share, what differs, and what the stored trials say."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Fold, Paragraph, Section
from podium.analysis.page.tables import Cell, Column, Table, table
from podium.analysis.study_results.recorded_fairness import CHECKED, FairnessCheck, used_budgets
from podium.analysis.study_results.study_results import StudyResults
from podium.analysis.wording import counted, listed
from podium.orchestrator.results.records.fairness_record import (
    Disparity,
    Fairness,
    summarise_differences,
)

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
    shared = "The losses of a setting share its data, splits, seeds, network and budget"
    if text := unequal_text(results):
        return f"{shared}. Apart from their formulas they differ in {text}."
    return f"{shared}, and are trained alike: only their formulas differ."


def _differences(disparities: Sequence[Disparity]) -> Table:
    return table(
        disparities,
        (
            Column.text("What", "label"),
            Column.text("Values", "values"),
            Column.text("Where", lambda it: it.where.removeprefix("in ") or "everywhere"),
            Column.text(
                "Declared by", lambda it: "the loss itself" if it.area == "loss" else it.by or None
            ),
            Column.text("Reason", lambda it: it.reason or None),
        ),
        name="fairness-differences",
        caption="Differences between the losses apart from their formulas",
        note="Losses that do not use a setting are not listed for it. The same budget has to"
        " cover more where more hyperparameters are searched.",
    )


def _folded_budgets(results: StudyResults, series: Mapping[str, Series]) -> Fold | None:
    planned = results.planned_trials
    used = used_budgets(results.trials, planned)
    if used.is_empty():
        return None
    shown = {protocol.label: protocol.shown for protocol in results.protocols}
    has_protocols = used["protocol"].n_unique() > 1

    def trials(row: Mapping[str, Any]) -> Cell:
        low, high, short = row["fewest_trials"], row["most_trials"], row["short_searches"]
        searches = counted(short, "search has fewer", "searches have fewer") if short else ""
        return Cell(
            text=" to ".join(map(str, dict.fromkeys((low, high)))), detail=searches, order=low
        )

    budgets = table(
        used,
        (
            Column.named("Loss", "loss", series),
            Column.text("Protocol", lambda row: shown[row["protocol"]]) if has_protocols else None,
            Column(label="Trials a search", cell=trials),
            Column.number("Epochs a search", "mean_epochs", 1),
            Column.count("Stopped early", "pruned"),
            Column.count("Failed", "failed"),
            Column.text(
                "Tested winners",
                lambda row: f"{row['finals'] - row['failed_finals']:,} of {row['finals']:,}",
                order=lambda row: row["finals"] - row["failed_finals"],
                is_number=True,
            ),
        ),
        name="fairness-budgets",
        caption=f"Budgets that searches used; {counted(planned, 'trial')} were planned for each."
        " Epochs are the mean over searches: those of trials that were stopped early are fewer.",
    )
    return Fold(summary="Budgets that searches used", parts=(budgets,))


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
        f"By the stored trials, all losses of a setting had the same {listed(same)}, in searches"
        " and finals."
    )


def _recorded(found: Sequence[FairnessCheck]) -> Table | None:
    rows = [(item, disparity) for item in found for disparity in item.disparities]
    if not rows:
        return None
    return table(
        rows,
        (
            Column.text("What", lambda row: CHECKED[row[0].column]),
            Column.text("In", lambda row: _STAGE_WORDS[row[0].stage]),
            Column.text("Values", lambda row: row[1].values),
            Column.text("Where", lambda row: row[1].where.removeprefix("in ")),
        ),
        name="fairness-recorded",
        caption="Differences between the stored trials of the losses",
        note="Seeds and splits of finals are those of runs that did not fail.",
    )


def _found(items: Sequence[FairnessCheck]) -> str:
    """``device (searches and finals of winners, 2 blocks)``."""
    disparities = [disparity for item in items for disparity in item.disparities]
    places = [place for disparity in disparities for place in disparity.blocks]
    blocks = {place.partition(" under ")[0] for place in places}
    stages = listed([_STAGE_WORDS[item.stage] for item in items])
    return f"{CHECKED[items[0].column]} ({stages}, {counted(len(blocks), 'setting')})"


def _equal(planned: Fairness) -> Table:
    return table(
        (*planned.equal.items(), *planned.settings.items()),
        (Column.text("What", 0), Column.text("Value", 1)),
        name="fairness-equal",
        caption="The same for all losses of a setting; what training is set to by its keys",
    )
