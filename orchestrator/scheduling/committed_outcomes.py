"""What the store knows of ended trials, as searches may know it: validation only."""

from dataclasses import dataclass

import polars as pl

from orchestrator.scheduling.running_search import Outcome
from orchestrator.trials.trial_history import mean_epoch, running_best, selected_epochs

__all__ = ["Committed", "committed_tests", "search_outcomes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """A trial that has a row: the search it stands under, and how it ended."""

    search: str
    state: str


def search_outcomes(
    decisions: pl.DataFrame, primary_k: int, objective: str
) -> dict[str, dict[str, Outcome]]:
    """Search id -> trial id -> outcome, of every committed trial of the search stage.

    Args:
        decisions: what `Reader.decisions` gives; it cannot hold test scores.
        primary_k: the K that decides.
        objective: the validation metric that decides.
    """
    found: dict[str, dict[str, Outcome]] = {}
    rows = decisions.filter(pl.col("stage") == "search")
    columns = ("search", "trial_id", "state", "objective", "training_seconds", "scores")
    for row in rows.select(columns).iter_rows(named=True):
        scores = [
            (score["fold"], score["epoch"], score["value"])
            for score in row["scores"]
            if (score["role"], score["metric"], score["k"]) == ("val", objective, primary_k)
        ]
        outcome = Outcome(
            state=row["state"],
            objective=row["objective"] if row["state"] == "COMPLETE" else None,
            path=running_best(scores),
            selected_epoch=mean_epoch(list(selected_epochs(scores).values())),
            seconds=row["training_seconds"],
        )
        found.setdefault(row["search"], {})[row["trial_id"]] = outcome
    return found


def committed_tests(decisions: pl.DataFrame) -> dict[str, Committed]:
    """Trial id -> search and state, of every committed trial of the other stages."""
    rows = decisions.filter(pl.col("stage") != "search").select("trial_id", "search", "state")
    return {
        trial_id: Committed(search=search, state=state)
        for trial_id, search, state in rows.iter_rows()
    }
