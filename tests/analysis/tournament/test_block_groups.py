"""What a test counts: data sets if there are six, else backbones, else nothing."""

from itertools import product

import numpy as np
import pytest

from podium.analysis.tournament.block_groups import (
    block_units,
    left_out_labels,
    run_units,
    shared_runs,
)


def units_of(*sizes, columns=("dataset", "backbone", "embedding_dim"), fewest=6):
    blocks = [
        {column: f"{column}{n}" for column, n in zip(columns, key, strict=True)}
        for key in product(*map(range, sizes))
    ]
    return block_units(blocks, ["/".join(block.values()) for block in blocks], fewest)


@pytest.mark.parametrize(
    ("sizes", "noun", "number", "question"),
    [
        ((6, 3, 4), "data set", 6, "on other data sets, with these backbones?"),
        ((8, 1, 1), "data set", 8, "on other data sets, with this backbone?"),
        ((6, 7, 1), "data set", 6, "on other data sets, with these backbones?"),
        ((5, 6, 2), "backbone", 6, "on other backbones, for these data sets?"),
        ((1, 9, 1), "backbone", 9, "on other backbones, for this data set?"),
    ],
)
def test_the_unit_is_the_data_set_else_the_backbone(sizes, noun, number, question):
    units = units_of(*sizes)
    assert (units.noun, units.number, units.why_untested) == (noun, number, "")
    assert units.question == f"Would the order hold {question}"


def test_with_five_of_both_nothing_is_tested_and_it_is_said_what_it_takes():
    assert units_of(3, 3, 4).why_untested == (
        "Whether that holds on other data sets or backbones is not tested: it takes 6 data sets or"
        " 6 backbones; these are 3 and 3."
    )
    assert units_of(5, columns=("dataset",)).why_untested.endswith("6 data sets; these are 5.")
    assert units_of(1, columns=("dataset",)).why_untested.endswith("6 data sets; this is 1.")
    assert units_of(5, 5, 1, fewest=5).why_untested == ""


def test_blocks_of_other_columns_are_units_themselves():
    assert units_of(3, 2, columns=("task", "size")).number == 6
    assert units_of(3, 2, columns=("task", "size")).why_untested == ""
    assert units_of(5, columns=("task",)).why_untested.endswith(
        "it takes 6 settings; these are 5."
    )


def test_scores_of_a_unit_are_the_means_over_its_blocks():
    units = units_of(6, 1, 2)
    scores = np.random.default_rng(0).normal(size=(12, 3))
    assert units.means(scores) == pytest.approx(scores.reshape(6, 2, 3).mean(axis=1))
    equal = np.array([[0.1, 0.3], [0.3, 0.1]] * 6)  # means that tie whatever their rounding
    assert (np.diff(units.means(equal), axis=1) == 0).all()


def test_runs_are_units_where_all_blocks_have_two_and_there_are_six():
    assert (run_units([3, 3], 6, "seed").counted, run_units([3, 3], 6, "seed").why_untested) == (
        "6 seeds",
        "",
    )
    assert "takes 6 seeds; all competitors share 5." in run_units([5], 6, "seed").why_untested
    assert "6 seeds, at least 2 of each setting" in run_units([1, 9], 6, "seed").why_untested
    both = np.array([[1.0, 2.0], [np.nan, 3.0]])
    assert [len(runs) for runs in shared_runs([both])] == [1]


def test_blocks_are_left_out_by_data_set_else_backbone_else_one_by_one():
    blocks = [{"dataset": a, "backbone": b} for a, b in ("xp", "xq", "yp")]
    assert left_out_labels(blocks, "123") == ("x", "x", "y")
    assert left_out_labels(blocks[:2], "12") == ("p", "q")
    assert left_out_labels([{"task": "t"}, {"task": "u"}], "12") == ("1", "2")
