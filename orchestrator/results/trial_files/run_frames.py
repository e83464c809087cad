"""Runs of a study and what they spent, as tables."""

from collections.abc import Sequence

import polars as pl

from orchestrator.results.records.runs import Run

__all__ = ["RUN_COLUMNS", "SPENDING_COLUMNS", "runs_frame", "spending_frame"]

RUN_COLUMNS = pl.Schema(
    [
        ("run", pl.Int32()),
        ("started_at", pl.Datetime("us", "UTC")),
        ("host", pl.String()),
        ("pid", pl.Int64()),
        ("podium_version", pl.String()),
        ("seconds", pl.Float64()),
        ("end", pl.String()),
        ("budget_gpu_hours", pl.Float64()),
        ("budget_wall_hours", pl.Float64()),
        ("budget_trials", pl.Int64()),
        ("trials_per_search", pl.Int32()),
        ("num_ended_searches", pl.Int32()),
    ]
)
SPENDING_COLUMNS = pl.Schema(
    [
        ("run", pl.Int32()),
        ("search", pl.String()),
        ("stage", pl.String()),
        ("use", pl.String()),
        ("tries", pl.Int64()),
        ("seconds", pl.Float64()),
        ("cpu_seconds", pl.Float64()),
        ("gpu_seconds", pl.Float64()),
    ]
)


def runs_frame(runs: Sequence[Run]) -> pl.LazyFrame:
    """One row per run, in order."""
    rows = [
        (
            *(run.number, run.started_at, run.host, run.pid, run.podium_version),
            *(run.seconds, run.end),
            *(run.budget.get(name) for name in ("gpu_hours", "wall_hours", "trials")),
            *(run.trials_per_search, len(run.ended_searches)),
        )
        for run in runs
    ]
    return pl.LazyFrame(rows, schema=RUN_COLUMNS, orient="row")


def spending_frame(runs: Sequence[Run]) -> pl.LazyFrame:
    """One row per run, search, stage and use."""
    rows = [
        (
            *(run.number, spent.search, spent.stage, spent.use, spent.tries),
            *(spent.seconds, spent.cpu_seconds, spent.gpu_seconds),
        )
        for run in runs
        for spent in run.spent
    ]
    frame = pl.LazyFrame(rows, schema=SPENDING_COLUMNS, orient="row")
    return frame.sort("run", "search", "stage", "use")
