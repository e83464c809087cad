"""Which blocks count as one, and by what mean."""

from itertools import product

import numpy as np
import polars as pl
import pytest

from podium.analysis.tournament.block_groups import block_groups
from podium.analysis.tournament.tournament import hold_tournament
from tests.analysis.tournament.small_tournaments import grid_tournament, tournament_of


def grid(**levels):
    """Groups of all combinations of the levels of some columns."""
    blocks = [dict(zip(levels, values, strict=True)) for values in product(*levels.values())]
    return block_groups(blocks, ["/".join(map(str, block.values())) for block in blocks])


@pytest.mark.parametrize(
    ("levels", "columns", "counted"),
    [
        (
            {"dataset": "xy", "backbone": "abc", "dim": (64, 128)},
            ("dataset", "backbone"),
            "6 groups of blocks with one data set and backbone",
        ),
        (
            {"dataset": "xy", "dim": (64, 128)},
            ("dataset",),
            "2 groups of blocks with one data set",
        ),
        (
            {"dim": (64, 128), "backbone": "a"},
            ("backbone",),
            "1 group of blocks with one backbone",
        ),
        ({"dataset": "xy", "backbone": "abc"}, (), "6 blocks"),
        ({"place": "xyz", "dim": (64, 128)}, (), "6 blocks"),
        ({"dataset": "x"}, (), "1 block"),
    ],
)
def test_blocks_that_share_data_set_and_backbone_are_a_group(levels, columns, counted):
    found = grid(**levels)

    assert found.columns == columns
    assert found.counted == counted
    assert found.noun == ("group" if columns else "block")


@pytest.mark.parametrize(
    ("levels", "elsewhere"),
    [
        ({"dataset": "x", "backbone": "a", "dim": (1, 2)}, "data sets or backbones"),
        ({"backbone": "a", "dim": (1, 2)}, "backbones"),
        ({"dataset": "xyz"}, "blocks"),
    ],
)
def test_other_groups_are_other_values_of_what_blocks_share(levels, elsewhere):
    assert grid(**levels).elsewhere == elsewhere


def test_groups_stand_in_the_order_of_their_first_blocks_wherever_the_others_are():
    datasets = ("x", "y", "x", "z", "y", "x")
    found = block_groups(
        [{"dataset": name, "dim": n} for n, name in enumerate(datasets)], "abcdef"
    )

    assert found.names == ("x", "y", "z")
    assert [blocks.tolist() for blocks in found.members] == [[0, 2, 5], [1, 4], [3]]


def test_blocks_that_are_groups_of_their_own_keep_their_scores_bit_for_bit():
    scores = np.random.default_rng(0).normal(size=(5, 3)) / 3
    found = grid(place="vwxyz")

    assert found.means(scores).tobytes() == scores.tobytes()
    assert [blocks.tolist() for blocks in found.members] == [[0], [1], [2], [3], [4]]
    held = tournament_of(scores)
    assert held.unit_scores_UC is held.scores_BC


def test_the_score_of_a_group_is_the_mean_of_its_blocks_however_many():
    datasets = ("x", "y", "x", "z", "y", "x")
    scores = np.random.default_rng(1).normal(size=(6, 4))
    found = block_groups([{"dataset": name} for name in datasets], "abcdef")

    for number, name in enumerate("xyz"):
        rows = [scores[b] for b in range(6) if datasets[b] == name]
        expected = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        assert found.means(scores)[number] == pytest.approx(expected)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 100.0])
def test_means_that_are_equal_but_for_rounding_tie(scale):
    scores = np.array([[0.1, 0.3], [0.2, 0.2], [0.3, 0.1]])
    first, second = scores.sum(axis=0)
    assert first != second
    scores *= scale
    ((a, b),) = grid(dataset="x", dim=(1, 2, 3)).means(scores)

    assert a == b == pytest.approx(0.2 * scale)


def test_scores_that_are_all_zero_have_a_mean():
    assert grid(dataset="x", dim=(1, 2)).means(np.zeros((2, 3))).tolist() == [[0, 0, 0]]


def test_what_losses_gain_on_a_backbone_wherever_it_is_used_is_seen_as_its_own():
    generator = np.random.default_rng(0)
    keys = [(d, b, e) for d in range(4) for b in range(4) for e in range(2)]
    of_backbone = generator.normal(size=(4, 5))
    rows = [
        {"dataset": d, "backbone": b, "dim": e, "loss": "abcde"[c], "score": float(score)}
        for d, b, e in keys
        for c, score in enumerate(of_backbone[b] + 0.3 * generator.normal(size=5))
    ]
    held = hold_tournament(
        pl.DataFrame(rows), by=["dataset", "backbone", "dim"], competitor="loss", score="score"
    )
    assert held.factor_correlations["backbone"] > 0.8
    assert held.factor_correlations["dataset"] < 0.1
    assert held.intraclass_correlation > 0.8


def test_where_blocks_share_one_column_there_is_no_second_correlation():
    scores = np.random.default_rng(0).normal(size=(6, 3))
    assert grid_tournament(scores, ["x", "x", "y", "y", "z", "z"]).factor_correlations == {}
