"""What the store knows of ended trials, as searches may know it: validation only."""

from collections.abc import Collection

import polars as pl

from podium.orchestrator.search_samplers.suggester import Outcome
from podium.orchestrator.trials.history import mean_epoch, running_best, selected_epochs


def search_outcomes(
    decisions: pl.DataFrame, primary_k: int, objective: str
) -> dict[str, dict[str, Outcome]]:
    """Search id -> trial id -> outcome, of every committed trial of the search stage.

    Rows are those of `Reader.ended_trials`, with ``scores``. Where these are null, outcomes have
    no path, and of several folds no epoch.
    """
    found: dict[str, dict[str, Outcome]] = {}
    rows = decisions.filter(pl.col("stage") == "search")
    columns = ("search", "trial_id", "state", "objective", "epoch_selected", "scores")
    for row in rows.select(columns).iter_rows():
        search, trial_id, state, score, selected, curve = row
        path: tuple[tuple[int, float], ...] = ()
        if curve is not None:
            scores = [
                (score["fold"], score["epoch"], score["value"])
                for score in curve
                if (score["role"], score["metric"], score["k"]) == ("val", objective, primary_k)
            ]
            path = running_best(scores)
            selected = mean_epoch(list(selected_epochs(scores).values()))
        outcome = Outcome(state, score if state == "COMPLETE" else None, path, selected)
        found.setdefault(search, {})[trial_id] = outcome
    return found


def whose_scores_count(
    decisions: pl.DataFrame, finished: Collection[str], train_on: Collection[str]
) -> dict[str, str]:
    """Trial id -> search, of those whose scores by epoch something still follows from.

    Samplers and early stopping learn from all trials of a search that is not finished. Of one that
    is, finals on all classes need the epochs of the default and the winner, which only trials of
    one fold have in a column.
    """
    rows = decisions.filter(pl.col("stage") == "search")
    counts = ~pl.col("search").is_in(finished)
    if "all" in train_on:
        best = pl.col("objective").filter(pl.col("state") == "COMPLETE").max().over("search")
        is_finalist = (pl.col("index") == 0) | (pl.col("objective") == best)
        has_epoch = (pl.col("state") == "COMPLETE") & pl.col("epoch_selected").is_not_null()
        counts |= is_finalist & ~has_epoch
    counted = rows.filter(counts.fill_null(value=True))
    return dict(counted.select("trial_id", "search").iter_rows())


def committed_finals(decisions: pl.DataFrame) -> dict[str, tuple[str, str]]:
    """Trial id -> search id and state, of every committed final and baseline trial."""
    rows = decisions.filter(pl.col("stage") != "search").select("trial_id", "search", "state")
    return {trial_id: (search, state) for trial_id, search, state in rows.iter_rows()}


def refit_epochs_of_defaults(decisions: pl.DataFrame) -> dict[str, int]:
    """Search id -> epoch at which its published default was trained on all classes."""
    rows = decisions.filter(
        pl.col("stage") == "final", pl.col("train_on") == "all", pl.col("is_default")
    )
    return dict(rows.select("search", "epochs_planned").unique().iter_rows())
