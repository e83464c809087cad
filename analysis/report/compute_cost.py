"""Compute cost of a study: its trials, the time they took, and what failed."""

from collections import Counter
from collections.abc import Iterator, Mapping

import polars as pl

from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Paragraph, Section, Table
from analysis.scores.final_scores import BASELINE
from analysis.scores.gpu_shares import gpus_per_trial, has_gpus
from analysis.scores.protocol_runs import attempt_table
from analysis.study_results.study_results import StudyResults
from analysis.wording import MISSING, MOST_NAMED, counted, duration, listed
from orchestrator.results.records.runs import (
    wall_seconds_of,
)

_STATES = ("COMPLETE", "PRUNED", "FAILED")


def compute_cost(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section: trials by state, seconds, causes, and whether searches had the same budget."""
    return Section(
        name="spent",
        title="Cost and failures",
        parts=(
            Paragraph(text=f"{_budget_text(results)} {_attempts_text(results)}"),
            *_limits(results),
            *_cancelled(results),
            _counts(results, series),
            _failures(results) or Paragraph(text="No trial failed."),
        ),
    )


def _budget_text(results: StudyResults) -> str:
    sizes = _search_trials(results).group_by("search").len()["len"].to_list()
    if not sizes:
        return "No search has a finished trial yet."
    low, high, planned = min(sizes), max(sizes), results.planned_trials
    searches = counted(len(sizes), "search", "searches")
    if low == high == planned:
        return f"All {searches} had the same budget: {counted(low, 'trial')} each."
    held = f"{low}" if low == high else f"{low} to {high}"
    text = f"The {searches} hold {held} of {counted(planned, 'planned trial')} each: "
    cut = results.cut_short
    if not cut:
        return f"{text}the study has not ended, or a search space was exhausted."
    low, high = min(cut.values()), max(cut.values())
    after = f"{low}" if low == high else f"{low} to {high}"
    whose = counted(len(cut), "search", "searches")
    return (
        f"{text}the share of the budget of {whose} was used up after {after} trials. Searches "
        "share hours equally, so a slower loss has evaluated fewer configs."
    )


def _attempts_text(results: StudyResults) -> str:
    """What all attempts took, those without a result too, and on which machines."""
    made = results.trials.filter(pl.col("same_as").is_null())
    gpus = gpus_per_trial(results.study)
    attempts = attempt_table(made, results.reader.attempts(), gpus_per_trial=gpus)
    if attempts.is_empty():
        return "Nothing has been spent on searches and finals yet."
    is_repeated = pl.col("number") < pl.col("number").max().over("trial")
    seconds = attempts["gpu_seconds"].sum()
    lost = attempts.filter(is_repeated)
    unit = "GPUs" if has_gpus(results.study) else "slots without a GPU"
    made_by = f"Searches and finals made {counted(attempts.height, 'attempt')}"
    text = f"{made_by}, which took {duration(float(seconds))} of {unit}"
    if lost.height:
        text += (
            f", {duration(float(lost['gpu_seconds'].sum()))} of it in"
            f" {counted(lost.height, 'attempt')} that were killed, lost or failed, and made again"
        )
    unknown = attempts["gpu_seconds"].null_count()
    if unknown:
        text += f"; {counted(unknown, 'attempt')} without a known end not counted"
    return f"{text}, failed and pruned trials included.{_machines(made)}"


def _limits(results: StudyResults) -> Iterator[Paragraph]:
    """How much of the hours allowed by the last run all runs together used."""
    runs = results.recorded_runs
    limits = runs[-1].budget if runs else {}
    used = {
        "gpu_hours": sum(spent.gpu_seconds for run in runs for spent in run.spent),
        "wall_hours": wall_seconds_of(runs),
    }
    texts = [
        f"{duration(seconds)} of budget.{name}: {limit:g}"
        for name, seconds in used.items()
        if (limit := limits.get(name)) is not None
    ]
    if texts:
        yield Paragraph(text=f"All runs together used {' and '.join(texts)}.")


def _cancelled(results: StudyResults) -> Iterator[Paragraph]:
    named = [
        f"{search} after {counted(had, 'trial')}" for search, had in results.cancelled.items()
    ]
    if named:
        yield Paragraph(text=f"Cancelled by the user, and so without a test: {listed(named)}.")


def _machines(trials: pl.DataFrame) -> str:
    """A warning where times were measured on different machines."""
    nodes = trials["node"].drop_nulls().n_unique()
    sides = (pl.col("device") == "cpu").replace_strict({True: "CPUs", False: "GPUs"})
    kinds = trials.drop_nulls("device").select(sides.unique().sort())["device"].to_list()
    if nodes < 2 and len(kinds) < 2:
        return ""
    where = f" on {listed(kinds)}" if len(kinds) > 1 else ""
    return (
        f" They ran on {counted(nodes, 'node')}{where}: hours of different machines are added as"
        " they are, so compare them with care."
    )


def _search_trials(results: StudyResults) -> pl.DataFrame:
    """The search trials of all protocols."""
    return results.trials.filter(pl.col("stage") == "search")


def _counts(results: StudyResults, series: Mapping[str, Series]) -> Table:
    losses = [*results.losses, *([BASELINE] if BASELINE in results.trials["loss"] else [])]
    duplicates = _duplicates(results)
    rows = [
        (
            Cell.named(loss, series),
            *_count_cells(results.trials.filter(pl.col("loss") == loss), duplicates[loss]),
        )
        for loss in losses
    ]
    total = (Cell(text="all", order="~"), *_count_cells(results.trials, duplicates.total()))
    labels = ("Search: complete", "pruned", "failed", "duplicates", "Final: complete", "failed")
    return Table(
        name="cost",
        caption="Trials and training time by loss. A duplicate is a suggestion whose trial was"
        " known already: its result was given again and nothing was trained.",
        columns=(*Column.texts("Loss"), *Column.numbers(*labels, "Training time")),
        rows=(*rows, total),
        note="Final counts winners, published defaults and untrained baselines, each over all"
        " seeds and folds. Training time is the sum over trials, not wall-clock time."
        + _copies_note(results),
    )


def _copies_note(results: StudyResults) -> str:
    copies = results.trials["same_as"].count()
    if not copies:
        return ""
    return (
        f" {counted(copies, 'final trial')} had been trained for another search already; that"
        " time counts once."
    )


def _count_cells(trials: pl.DataFrame, duplicates: int) -> tuple[Cell, ...]:
    searched = trials.filter(pl.col("stage") == "search")
    final = trials.filter(pl.col("stage") != "search")
    numbers = [searched.filter(pl.col("state") == state).height for state in _STATES]
    numbers += [duplicates]
    numbers += [final.filter(pl.col("state") == state).height for state in ("COMPLETE", "FAILED")]
    parts = (part.filter(pl.col("same_as").is_null()) for part in (trials, searched, final))
    total, search, rest = (float(part["seconds"].sum()) for part in parts)
    return (
        *(Cell(text=f"{count:,}", order=count) for count in numbers),
        Cell(
            text=duration(total),
            detail=f"search {duration(search)}, final {duration(rest)}",
            order=total,
        ),
    )


def _duplicates(results: StudyResults) -> Counter[str]:
    owners = dict(_search_trials(results).select("search", "loss").unique().iter_rows())
    counts = Counter[str]()
    for search, asks in results.asks.items():
        if search in owners:
            counts[owners[search]] += len(asks) - len({ask.trial_id for ask in asks})
    return counts


def _failures(results: StudyResults) -> Table | None:
    failed = results.trials.filter(pl.col("state") == "FAILED").sort("trial_id")
    if failed.is_empty():
        return None
    causes = (
        failed.with_columns(pl.col("cause").fill_null("unknown"))
        .group_by("cause")
        .agg(
            pl.len().alias("trials"),
            pl.col("loss").unique().sort(),
            pl.col("stage").unique().sort(),
            pl.col("message").first(),
            pl.col("trial_id").first(),
        )
        .sort("trials", "cause", descending=[True, False])
    )
    heads = ("Losses", "Stages", "For example", "Trial")
    return Table(
        name="failures",
        caption="Failed trials by cause",
        columns=(*Column.texts("Cause"), *Column.numbers("Trials"), *Column.texts(*heads)),
        rows=tuple(
            (
                Cell(text=row["cause"]),
                Cell.count(row["trials"]),
                Cell(text=listed(row["loss"], most=MOST_NAMED)),
                Cell(text=listed(row["stage"])),
                Cell(text=row["message"] or MISSING),
                Cell(text=row["trial_id"]),
            )
            for row in causes.to_dicts()
        ),
        note="The command “podium trials STUDY --failed” shows traceback and log; once a cause is"
        " fixed, “podium run STUDY --retry-failed” runs these trials again.",
    )
