"""What is resampled and left out, and what is said of it."""

import numpy as np
import polars as pl
import pytest

from podium.analysis.tournament.block_runs import BlockRuns
from podium.analysis.tournament.rank_stability import rank_stability
from podium.analysis.tournament.tournament import hold_tournament


def tournament(datasets, dims, by=("dataset", "backbone", "embedding_dim")):
    generator = np.random.default_rng(0)
    rows = [
        {
            "dataset": f"data{d}",
            "backbone": "net",
            "embedding_dim": dim,
            "place": f"data{d}-{dim}",
            "loss": loss,
            "recall": float(generator.random()),
        }
        for d in range(datasets)
        for dim in range(dims)
        for loss in "abc"
    ]
    return hold_tournament(pl.DataFrame(rows), by=by, competitor="loss", score="recall")


def runs_of(held):
    """Three runs in each block around its scores."""
    generator = np.random.default_rng(1)
    return [
        BlockRuns(
            sums_UC=scores + 0.1 * generator.normal(size=(3, len(scores))),
            weights_UC=np.ones((3, len(scores))),
            is_exact=False,
        )
        for scores in held.scores_BC
    ]


@pytest.mark.parametrize("datasets", [2, 4, 5])
def test_groups_are_drawn_and_left_out_however_few(datasets):
    stability = rank_stability(tournament(datasets=datasets, dims=3))

    assert stability.bootstrap.num_groups == datasets
    assert stability.bootstrap.num_blocks == 3 * datasets
    assert stability.resampled == f"{datasets} groups of blocks with one data set and backbone"
    assert len(stability.leave_one_out) == datasets


@pytest.mark.parametrize("by", [("dataset", "backbone"), ("place",)])
def test_blocks_that_are_groups_of_their_own_are_drawn_and_left_out_alone(by):
    stability = rank_stability(tournament(datasets=6, dims=1, by=by))

    assert stability.bootstrap.num_groups == 6
    assert stability.resampled == "6 blocks"
    assert len(stability.leave_one_out) == 6


def test_runs_are_drawn_within_what_is_drawn():
    held = tournament(datasets=2, dims=2)

    assert rank_stability(held, runs_of(held)).resampled == (
        "2 groups of blocks with one data set and backbone and the runs within them"
    )


def test_each_group_is_left_out_in_turn_with_all_its_blocks():
    held = tournament(datasets=3, dims=2)
    stability = rank_stability(held)

    assert [one.left_out for one in stability.leave_one_out] == [
        "data0/net",
        "data1/net",
        "data2/net",
    ]
    without = held.ranks_BC[[block["dataset"] != "data1" for block in held.blocks]].sum(axis=0)
    expected = sorted(
        (1 + int((without < total).sum()), name)
        for total, name in zip(without, held.names, strict=True)
    )
    assert list(stability.leave_one_out[1].places) == expected


@pytest.mark.parametrize("dims", [1, 4])
def test_a_single_group_of_single_runs_leaves_nothing_to_resample(dims):
    assert rank_stability(tournament(datasets=1, dims=dims)) is None


@pytest.mark.parametrize(("dims", "blocks"), [(1, "the one block"), (4, "the same blocks")])
def test_a_single_group_has_nothing_but_its_runs(dims, blocks):
    held = tournament(datasets=1, dims=dims)
    stability = rank_stability(held, runs_of(held))

    assert stability.resampled == f"the runs of {blocks}"
    assert stability.leave_one_out == ()
