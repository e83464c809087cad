"""What the store knows of ended trials, as searches may know it: validation only."""

from dataclasses import dataclass

import polars as pl

from orchestrator.search_samplers.suggester import Outcome
from orchestrator.trials.history import mean_epoch, running_best, selected_epochs


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """A final or baseline trial that has a row: id of its search, and the state it ended in."""

    search: str
    state: str


def search_outcomes(
    decisions: pl.DataFrame, primary_k: int, objective: str
) -> dict[str, dict[str, Outcome]]:
    """Search id -> trial id -> outcome, of every committed trial of the search stage.

    Args:
        decisions: one row for each trial, from `Reader.decisions`; it holds no test scores.
        primary_k: the K at which the objective is read.
        objective: name of the validation metric that searches maximise.
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


def committed_finals(decisions: pl.DataFrame) -> dict[str, Committed]:
    """Trial id -> search and state, of every committed final and baseline trial.

    Args:
        decisions: one row for each trial, from `Reader.decisions`.
    """
    rows = decisions.filter(pl.col("stage") != "search").select("trial_id", "search", "state")
    return {
        trial_id: Committed(search=search, state=state)
        for trial_id, search, state in rows.iter_rows()
    }


def refit_epochs_of_defaults(decisions: pl.DataFrame) -> dict[str, int]:
    """Search id -> epoch at which its published default was trained on all classes.

    Args:
        decisions: one row for each committed trial, from `Reader.decisions`.
    """
    rows = decisions.filter(
        pl.col("stage") == "final", pl.col("train_on") == "all", pl.col("is_default")
    )
    return dict(rows.select("search", "epochs_planned").unique().iter_rows())
