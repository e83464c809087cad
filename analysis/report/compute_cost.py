"""Compute cost of a study: its trials, the time they took, and what failed."""

from collections import Counter
from collections.abc import Iterator, Mapping

import polars as pl

from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Paragraph, Section
from podium.analysis.page.tables import Cell, Column, Table, table
from podium.analysis.scores.final_scores import BASELINES
from podium.analysis.scores.gpu_shares import has_gpus
from podium.analysis.study_results.study_results import StudyResults
from podium.analysis.wording import MOST_NAMED, counted, duration, listed

_ALL = "all"  # losses together


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
    """What all attempts took, and on which machines."""
    made, attempts = results.trials.filter(pl.col("same_as").is_null()), results.attempts
    if attempts.is_empty():
        return "Nothing has been spent on searches and finals yet."
    is_repeated = pl.col("number") < pl.col("number").max().over("trial")
    seconds = attempts["gpu_seconds"].sum()
    lost = attempts.filter(is_repeated)
    unit = "GPUs" if has_gpus(results.study) else "training without a GPU"
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
        "wall_hours": sum(run.seconds for run in runs),
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
    trials = results.trials
    duplicates = _duplicates(results)
    losses = [*results.losses, *(name for name in BASELINES if name in trials["loss"])]
    rows = [(loss, trials.filter(pl.col("loss") == loss), duplicates[loss]) for loss in losses]
    is_search = pl.col("stage") == "search"

    def count(label: str, which: pl.Expr, state: str) -> Column:
        is_counted = which & (pl.col("state") == state)
        return Column.count(label, lambda row: row[1].filter(is_counted).height)

    def time(row: tuple[str, pl.DataFrame, int]) -> Cell:
        made = row[1].filter(pl.col("same_as").is_null())
        total, search, final = (
            float(made.filter(which)["seconds"].sum())
            for which in (pl.lit(value=True), is_search, ~is_search)
        )
        detail = f"search {duration(search)}, final {duration(final)}"
        return Cell(text=duration(total), detail=detail, order=total)

    return table(
        [*rows, (_ALL, trials, duplicates.total())],
        (
            Column.named("Loss", 0, series),
            count("Search: complete", is_search, "COMPLETE"),
            count("pruned", is_search, "PRUNED"),
            count("failed", is_search, "FAILED"),
            Column.count("duplicates", 2),
            count("Final: complete", ~is_search, "COMPLETE"),
            count("failed", ~is_search, "FAILED"),
            Column(label="Training time", cell=time),
        ),
        name="cost",
        caption="Trials and training time by loss. A duplicate is a suggestion whose trial was"
        " known already: its result was given again and nothing was trained.",
        note="Final counts winners, published defaults and baselines, each over all"
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
    return table(
        causes,
        (
            Column.text("Cause", "cause"),
            Column.count("Trials", "trials"),
            Column.text("Losses", lambda row: listed(row["loss"], most=MOST_NAMED)),
            Column.text("Stages", lambda row: listed(row["stage"])),
            Column.text("For example", "message"),
            Column.text("Trial", "trial_id"),
        ),
        name="failures",
        caption="Failed trials by cause",
        note="The command “podium trials STUDY --failed” shows traceback and log; once a cause is"
        " fixed, “podium run STUDY --retry-failed” runs these trials again.",
    )
