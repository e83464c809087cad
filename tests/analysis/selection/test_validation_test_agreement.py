"""Agreement against scipy and slow enumerations, and against planted truth."""

import math
from itertools import combinations, permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, weightedtau

from analysis.selection.validation_test_agreement import (
    rank_agreement,
    weighted_tau,
)
from podium.errors import PodiumError
from tests.analysis.protocol_studies import (
    final,
    run,
    runs_table,
    searched_and_tested,
    shared_configs,
)

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12)


@given(PAIRS)
def test_the_weighted_tau_equals_that_of_scipy_also_with_ties(pairs):
    x, y = zip(*pairs, strict=True)
    tau = weighted_tau(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert math.isnan(tau)
    else:
        assert tau == pytest.approx(weightedtau(x, y).statistic)


def slow_top_five(scores):
    """Chance of each to be in the first five, over all orders of those that tie."""
    counts, orders = np.zeros(len(scores)), list(permutations(range(len(scores))))
    for order in orders:
        best = sorted(order, key=lambda c: -scores[c])  # stable: ties stay in this order
        counts[best[:5]] += 1
    return counts / len(orders)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_search_equals_a_slow_computation(seed):
    generator = np.random.default_rng(seed)
    val, test = generator.integers(0, 4, 7), generator.integers(0, 6, (7, 4)).astype(float)
    means = test.mean(axis=1)
    row = rank_agreement(searched_and_tested(val, test)).row(0, named=True)
    assert row["tau"] == pytest.approx(kendalltau(val, means).statistic)
    assert row["weighted_tau"] == pytest.approx(weightedtau(val, means).statistic)
    picks, best = np.flatnonzero(val == val.max()), np.flatnonzero(means == means.max())
    assert row["top_1"] == pytest.approx(np.mean([pick in best for pick in picks]))
    assert row["top_5"] == pytest.approx((slow_top_five(val) * slow_top_five(means)).sum() / 5)
    halves = [
        kendalltau(test[:, side].mean(axis=1), np.delete(test, side, axis=1).mean(axis=1))
        for side in combinations(range(4), 2)
    ]
    assert row["ceiling"] == pytest.approx(np.mean([half.statistic for half in halves]))
    rest = test - test.mean(axis=0)
    rest = rest - rest.mean(axis=1, keepdims=True)
    error = math.sqrt((rest**2).sum() / (6 * 3) / 4)
    assert row["at_ceiling"] == pytest.approx(np.mean(means >= means.max() - error))
    assert [row[name] for name in ("num_configs", "num_missing", "num_runs")] == [7, 0, 4]


def test_the_jackknife_leaves_each_config_out():
    generator = np.random.default_rng(3)
    val, test = generator.normal(size=20), generator.normal(size=(20, 3))
    row = rank_agreement(searched_and_tested(val, test)).row(0, named=True)
    means = test.mean(axis=1)
    without = [
        kendalltau(np.delete(val, c), np.delete(means, c)).statistic for c in range(len(val))
    ]
    error = math.sqrt(19 * np.var(without))
    assert row["tau_high"] - row["tau"] == pytest.approx(2.093 * error, rel=1e-3)
    assert row["tau"] - row["tau_low"] == pytest.approx(2.093 * error, rel=1e-3)


def test_own_runs_and_those_of_others_are_distinguished():
    val, test = np.random.default_rng(0).normal(size=(2, 3, 6))
    frame = shared_configs(val, test)
    own, other = (rank_agreement(frame, test_runs=which)["tau"] for which in ("own", "other"))
    for q in range(3):
        assert own[q] == pytest.approx(kendalltau(val[q], test[q]).statistic)
        others = np.delete(test, q, axis=0).mean(axis=0)
        assert other[q] == pytest.approx(kendalltau(val[q], others).statistic)


def test_each_fold_is_compared_by_itself():
    generator = np.random.default_rng(1)
    val, test = generator.normal(size=(2, 2, 6))
    val[1] += 10  # an easy fold: no order over folds may come of it
    rows = [
        run(f"c{c}", fold=f, val=val[f, c], test=test[f, c]) for f in range(2) for c in range(6)
    ]
    agreement = rank_agreement(runs_table(rows), test_runs="own")
    assert agreement["fold"].to_list() == [None, 0, 1]
    sides = [(val.mean(axis=0), test.mean(axis=0)), (val[0], test[0]), (val[1], test[1])]
    expected = [kendalltau(*side).statistic for side in sides]
    assert agreement["tau"].to_list() == pytest.approx(expected)


def test_blocks_losses_and_protocols_are_never_mixed():
    frame = searched_and_tested([1, 2, 3], [[1, 1.0], [2, 2], [3, 3]])
    turned = frame.with_columns(val=-pl.col("val"))
    for column in ("block", "loss", "protocol"):
        both = pl.concat([frame, turned.with_columns(pl.lit("z").alias(column))])
        assert rank_agreement(both)["tau"].to_list() == pytest.approx([1, -1])


def test_pruned_failed_and_untested_configs_are_counted_not_compared():
    rows = [
        run("c0", val=3),
        run("c1", val=1),
        run("c2", val=9, state="PRUNED"),
        run("c3", state="FAILED"),
        run("c4", val=2),
        *(final(config, 1, test) for config, test in [("c0", 1.0), ("c1", 0.0), ("c2", 0.0)]),
        final("c0", 2, 9.0),
        final("c4", 2, 9.0, state="FAILED"),
    ]
    row = rank_agreement(runs_table(rows)).row(0, named=True)
    counts = ("num_configs", "num_missing", "num_pruned", "num_failed")
    assert [row[name] for name in counts] == [2, 1, 1, 1]
    assert (row["tau"], row["top_1"], row["top_5"], row["ceiling"]) == (1, 1, None, None)


def test_one_config_or_no_test_has_no_agreement():
    alone = rank_agreement(searched_and_tested([1], [[1, 2.0]])).row(0, named=True)
    untested = rank_agreement(runs_table([run("c0", val=1), run("c1", val=2)])).row(0, named=True)
    for row in (alone, untested):
        assert row["tau"] is row["top_1"] is row["ceiling"] is None


def test_equal_scores_have_no_order():
    row = rank_agreement(searched_and_tested([1, 1, 1, 1], [[1.0], [2], [3], [4]]))
    assert row.select("tau", "weighted_tau", "top_1").row(0) == (None, None, 0.25)


def test_unknown_test_runs_are_refused():
    with pytest.raises(PodiumError, match="one of other, own; got 'all'"):
        rank_agreement(runs_table([run("c0", val=1)]), test_runs="all")


def planted_tau(correlation):
    return 2 / math.pi * math.asin(correlation)


def simulated(generator, num_configs, num_runs, *, val_noise=0.7, test_noise=1.0):
    true_C = generator.normal(size=num_configs)
    val_C = true_C + generator.normal(0, val_noise, num_configs)
    shared_S = generator.normal(0, 0.5, num_runs)
    noise_CS = generator.normal(0, test_noise, (num_configs, num_runs))
    return val_C, true_C[:, None] + shared_S + noise_CS


def test_the_interval_of_one_search_holds_the_planted_tau():
    truth = planted_tau(1 / math.sqrt((1 + 0.49) * (1 + 1 / 4)))
    inside = 0
    for repeat in range(100):
        study = simulated(np.random.default_rng(repeat), 25, 4)
        row = rank_agreement(searched_and_tested(*study)).row(0, named=True)
        inside += row["tau_low"] <= truth <= row["tau_high"]
    assert inside >= 88


def test_the_ceiling_is_the_planted_agreement_of_two_halves():
    found = [
        rank_agreement(searched_and_tested(*simulated(np.random.default_rng(repeat), 20, 4)))
        for repeat in range(60)
    ]
    ceilings = pl.concat(found)["ceiling"].to_numpy()
    truth = planted_tau(1 / (1 + 1 / 2))
    # False alarm at 4 standard errors: 1 in 16,000.
    assert abs(ceilings.mean() - truth) < 4 * ceilings.std() / math.sqrt(60)
