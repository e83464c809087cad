"""What the store knows of ended trials, as searches may know it: validation only."""

import polars as pl

from orchestrator.history import running_best
from orchestrator.search_run import Outcome

__all__ = ["committed_states", "search_outcomes"]


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
    for row in rows.select("search", "trial_id", "state", "objective", "scores").iter_rows(
        named=True
    ):
        outcome = Outcome(
            state=row["state"],
            objective=row["objective"] if row["state"] == "COMPLETE" else None,
            path=running_best(
                (score["fold"], score["epoch"], score["value"])
                for score in row["scores"]
                if (score["role"], score["metric"], score["k"]) == ("val", objective, primary_k)
            ),
        )
        found.setdefault(row["search"], {})[row["trial_id"]] = outcome
    return found


def committed_states(decisions: pl.DataFrame) -> dict[str, str]:
    """Trial id -> state, of every committed trial of the final and baseline stages."""
    rows = decisions.filter(pl.col("stage") != "search").select("trial_id", "state")
    return dict(rows.iter_rows())
