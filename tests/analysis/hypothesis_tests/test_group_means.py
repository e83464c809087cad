"""Means over cells: against scipy where cells share nothing, and leave-outs where they do."""

import math

import polars as pl
import pytest
from scipy import stats

from podium.analysis.hypothesis_tests.group_means import (
    group_means,
    independent_cells,
    paired_differences,
)
from podium.analysis.hypothesis_tests.pairwise_comparisons import holm


def cells(values, *, protocol="p", block="b", loss="l"):
    """One cell per repeat."""
    rows = [
        {"protocol": protocol, "block": block, "loss": loss, "repeat": repeat, "x": value}
        for repeat, value in enumerate(values)
    ]
    schema = {**dict.fromkeys(("protocol", "block", "loss"), pl.String), "repeat": pl.Int64}
    return pl.DataFrame(rows, schema={**schema, "x": pl.Float64})


def single_group_mean(frame, **options):
    return group_means(independent_cells(frame), ["x"], **options).row(0, named=True)


def test_of_cells_that_share_nothing_it_is_the_t_interval_over_repeats():
    values = [0.3, 0.5, 0.1, 0.9]
    row = single_group_mean(cells(values))
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert row["mean"] == pytest.approx(0.45)
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
    assert row["standard_error"] == pytest.approx(stats.sem(values))
    assert (row["num_cells"], row["num_repeats"], row["num_blocks"]) == (4, 4, 1)


def test_a_repeat_is_left_out_of_all_blocks_and_losses_at_once():
    parts = [[0.1, 0.4, 0.3], [0.2, 0.9, 0.1], [0.5, 0.7, 0.8]]
    frame = pl.concat(
        cells([part[q] for part in parts], block=block) for q, block in enumerate("bcd")
    )
    row = single_group_mean(frame)
    of_repeats = [sum(part) / 3 for part in parts]
    expected = stats.ttest_1samp(of_repeats, 0).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))


def test_what_cells_share_with_a_repeat_goes_with_it():
    whole = cells([1.0, 2.0, 3.0])
    # Without repeat j the others are measured anew: here they double.
    without = {
        j: whole.filter(pl.col("repeat") != j).with_columns(pl.col("x") * 2) for j in range(3)
    }
    row = group_means({None: whole, **without}, ["x"]).row(0, named=True)
    left_out = [5.0, 4.0, 3.0]
    error = math.sqrt(2 / 3 * sum((value - 4) ** 2 for value in left_out))
    assert row["standard_error"] == pytest.approx(error)
    assert row["high"] - row["mean"] == pytest.approx(stats.t.ppf(0.975, 2) * error)


def test_missing_measures_are_left_out_and_counted():
    row = single_group_mean(cells([1.0, None, 3.0]))
    assert (row["mean"], row["num_cells"], row["num_repeats"]) == (2, 2, 2)
    nothing = single_group_mean(cells([None, None]))
    assert (nothing["mean"], nothing["low"], nothing["num_cells"]) == (None, None, 0)


def test_one_repeat_or_no_difference_has_no_interval():
    assert single_group_mean(cells([1.0]))["low"] is None
    assert single_group_mean(cells([1.0, 1.0, 1.0]))["low"] is None


def test_groups_are_not_mixed():
    frame = pl.concat([cells([1.0, 2.0]), cells([5.0, 9.0], protocol="q")])
    means = group_means(independent_cells(frame), ["x"])
    assert means.select("protocol", "mean").rows() == [("p", 1.5), ("q", 7)]
    by_loss = group_means(independent_cells(frame), ["x"], by=("protocol", "loss"))
    assert by_loss.select("protocol", "loss", "mean").rows() == [("p", "l", 1.5), ("q", "l", 7)]


THREE = {"p": [1.0, 2.0, 4.0], "q": [1.5, 2.0, 3.0], "r": [0.0, 0.5, 1.0]}


def test_pairs_are_compared_by_the_paired_t_test_with_holm():
    frame = pl.concat(cells(values, protocol=name) for name, values in THREE.items())
    pairs = paired_differences(independent_cells(frame), ["x"], order=["r", "p", "q"])
    assert pairs.select("a", "b").rows() == [("r", "p"), ("r", "q"), ("p", "q")]
    tests = [stats.ttest_rel(THREE[a], THREE[b]) for a, b in pairs.select("a", "b").iter_rows()]
    assert pairs["p_value"].to_list() == pytest.approx([test.pvalue for test in tests])
    assert pairs["p_holm"].to_list() == pytest.approx(holm([test.pvalue for test in tests]))
    expected = tests[0].confidence_interval(0.95)
    assert pairs.select("low", "high").row(0) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(
    "values", [[0.5], [0.5, 0.7], [0.5] * 4, [1e8 + 1e-3 * r for r in range(4)]]
)
def test_pieces_that_are_few_or_agree_give_neither_interval_nor_p(values):
    frame = pl.concat([cells(values), cells([0.0] * len(values), protocol="q")])
    row = paired_differences(independent_cells(frame), ["x"], order=["p", "q"]).row(0, named=True)
    assert row["mean"] == pytest.approx(sum(values) / len(values))
    names = ("low", "high", "standard_error", "p_value", "p_holm")
    assert [row[name] for name in names] == [None] * 5


def test_only_cells_that_both_protocols_have_are_compared():
    frame = pl.concat([cells([1.0, 2.0, 99.0]), cells([0.0, 0.5], protocol="q")])
    row = paired_differences(independent_cells(frame), ["x"], order=["p", "q"]).row(0, named=True)
    assert (row["mean"], row["num_cells"]) == (1.25, 2)


def test_one_protocol_has_no_pairs():
    assert paired_differences(independent_cells(cells([1.0])), ["x"], order=["p"]).is_empty()
