"""Which resampling leads, and what is said of it."""

import numpy as np
import polars as pl
import pytest

from analysis.tournament.rank_stability import rank_stability
from analysis.tournament.tournament import hold_tournament


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


def test_five_groups_lead_over_their_blocks():
    stability = rank_stability(tournament(datasets=5, dims=3))

    assert stability.leading is stability.by_cluster
    assert stability.leading.num_clusters == 5
    assert stability.unit == "groups of blocks with one dataset and backbone"


def test_fewer_groups_are_shown_after_the_blocks():
    stability = rank_stability(tournament(datasets=4, dims=3))

    assert stability.leading.num_clusters == 12
    assert stability.by_cluster.num_clusters == 4
    assert stability.by_cluster.is_sensitivity
    assert stability.unit == "blocks"


@pytest.mark.parametrize("by", [("dataset", "backbone"), ("place",)])
def test_blocks_that_are_groups_of_their_own_are_resampled_once(by):
    stability = rank_stability(tournament(datasets=6, dims=1, by=by))

    assert stability.by_cluster is None
    assert stability.leading.num_clusters == 6


def test_each_block_is_left_out_in_turn():
    stability = rank_stability(tournament(datasets=4, dims=2))

    assert len(stability.leave_one_out) == 8


def test_each_group_is_left_out_in_turn_with_all_its_blocks():
    held = tournament(datasets=3, dims=2)
    stability = rank_stability(held)

    assert [one.left_out for one in stability.leave_cluster_out] == [
        "data0/net",
        "data1/net",
        "data2/net",
    ]
    without = held.ranks_BC[[block["dataset"] != "data1" for block in held.blocks]].sum(axis=0)
    expected = sorted(
        (1 + int((without < total).sum()), name)
        for total, name in zip(without, held.names, strict=True)
    )
    assert list(stability.leave_cluster_out[1].places) == expected


def test_what_leads_is_what_is_left_out():
    few, many = (rank_stability(tournament(datasets=n, dims=2)) for n in (4, 5))

    assert few.left_out is few.leave_one_out
    assert many.left_out is many.leave_cluster_out


def test_a_single_block_leaves_nothing_to_resample():
    assert rank_stability(tournament(datasets=1, dims=1)) is None
