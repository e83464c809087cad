"""What became of a block and a loss."""

import polars as pl
import pytest

from analysis.scores.cell_states import CellState, cell_states

SCHEMA = {"block": pl.String, "loss": pl.String, "stage": pl.String, "state": pl.String}


def state_of(*, searched=(), winners=()):
    """The state of one cell with trials of these states."""
    trials = pl.DataFrame(
        [("p", "a", "search", state) for state in searched]
        + [("p", "a", "final", state) for state in winners]
        + [("p", "other", "search", "COMPLETE")],
        schema=SCHEMA,
        orient="row",
    )
    finals = trials.filter(pl.col("stage") == "final").with_columns(finalist=pl.lit("winner"))
    return cell_states(trials, finals, ["a"])["p", "a"]


@pytest.mark.parametrize(
    ("searched", "winners", "expected"),
    [
        (["COMPLETE"], ["COMPLETE"] * 3, CellState.TESTED),
        (["COMPLETE"], ["COMPLETE", "FAILED"], CellState.PARTLY_FAILED),
        (["COMPLETE"], ["FAILED", "FAILED"], CellState.FAILED),
        (["COMPLETE", "PRUNED"], [], CellState.UNTESTED),
        (["PRUNED", "FAILED"], [], CellState.PRUNED),
        (["FAILED", "FAILED"], [], CellState.FAILED),
        ([], [], CellState.NOT_RUN),
    ],
)
def test_final_runs_decide_and_without_them_the_search(searched, winners, expected):
    assert state_of(searched=searched, winners=winners) is expected


def test_finals_of_the_default_test_no_winner():
    trials = pl.DataFrame([("p", "a", "search", "COMPLETE")], schema=SCHEMA, orient="row")
    finals = pl.DataFrame(
        [("p", "a", "final", "COMPLETE")], schema=SCHEMA, orient="row"
    ).with_columns(finalist=pl.lit("default"))
    assert cell_states(trials, finals, ["a"]) == {("p", "a"): CellState.UNTESTED}


def test_every_block_that_was_begun_has_every_loss_of_the_study():
    trials = pl.DataFrame(
        [("q", "a", "search", "COMPLETE"), ("p", "b", "search", "PRUNED")],
        schema=SCHEMA,
        orient="row",
    )
    finals = trials.head(0).with_columns(finalist=pl.lit("winner"))
    states = cell_states(trials, finals, ["a", "b"])
    assert list(states) == [("p", "a"), ("p", "b"), ("q", "a"), ("q", "b")]
    assert states["p", "a"] is states["q", "b"] is CellState.NOT_RUN
