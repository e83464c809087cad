"""What became of each block and loss of a study: tested, failed, pruned away, not run."""

from collections.abc import Sequence
from enum import Enum

import polars as pl


class CellState(Enum):
    """From a score of all runs to none; the values are words of a legend."""

    TESTED = "tested"
    PARTLY_FAILED = "tested, some runs failed"
    FAILED = "failed"
    PRUNED = "pruned away"
    UNTESTED = "searched, not tested yet"
    NOT_RUN = "not run"


def cell_states(
    trials: pl.DataFrame, finals: pl.DataFrame, losses: Sequence[str]
) -> dict[tuple[str, str], CellState]:
    """State of each cell: block with a trial, and loss of the study.

    A winner's final runs decide: all succeeded, some or none. Without any, the search does: it
    has a complete trial (not tested yet), or its trials all failed, or all were stopped early
    or failed (pruned away), so that nothing could be selected.

    Args:
        trials: trials of one protocol, one row each.
        finals: final trials, from `analysis.scores.final_scores.final_trials`.
        losses: names of the losses of the study.
    """
    winners = _counts(finals.filter(pl.col("finalist") == "winner"))
    searches = _counts(trials.filter(pl.col("stage") == "search"))
    blocks = trials["block"].unique().sort().to_list()
    none = {"COMPLETE": 0, "FAILED": 0, "PRUNED": 0}
    return {
        (block, loss): _state(winners.get((block, loss), none), searches.get((block, loss), none))
        for block in blocks
        for loss in losses
    }


def _counts(trials: pl.DataFrame) -> dict[tuple[str, str], dict[str, int]]:
    """Trials of each state, by block and loss."""
    counted = trials.group_by("block", "loss").agg(
        (pl.col("state") == state).sum().alias(state) for state in ("COMPLETE", "FAILED", "PRUNED")
    )
    return {(row.pop("block"), row.pop("loss")): row for row in counted.to_dicts()}


def _state(winners: dict[str, int], searched: dict[str, int]) -> CellState:
    if any(winners.values()):
        if not winners["COMPLETE"]:
            return CellState.FAILED
        return CellState.PARTLY_FAILED if winners["FAILED"] else CellState.TESTED
    if searched["COMPLETE"]:
        return CellState.UNTESTED
    if searched["PRUNED"]:
        return CellState.PRUNED
    return CellState.FAILED if searched["FAILED"] else CellState.NOT_RUN
