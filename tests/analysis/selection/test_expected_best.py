"""Expected best against enumeration and against planted truth."""

import math
from itertools import combinations, product

import numpy as np
import pytest

from analysis.selection.expected_best import expected_best
from podium.errors import PodiumError
from tests.analysis.protocol_studies import run, runs_table


def search(val, test=None, **columns):
    tests = [None] * len(val) if test is None else test
    return runs_table(
        run(f"c{i}", val=v, test=t, **columns)
        for i, (v, t) in enumerate(zip(val, tests, strict=True))
    )


def curve(frame):
    return expected_best(frame, sampler="random")


@pytest.mark.parametrize("val", [[3.0, 1, 4, 1.5, 9], [2.0, 2, 5, 5, 1]])
def test_both_estimators_equal_an_enumeration(val):
    found = curve(search(val))
    for n in range(1, 6):
        row = found.row(n - 1, named=True)
        assert row["num_trials"] == n
        drawn = [max(draw) for draw in product(val, repeat=n)]
        different = [max(draw) for draw in combinations(val, n)]
        assert row["biased"] == pytest.approx(np.mean(drawn))
        assert row["unbiased"] == pytest.approx(np.mean(different))


def test_the_incumbents_test_is_that_of_the_best_on_validation():
    val, test = [3.0, 1, 4, 4], [10.0, 50, 20, 40]
    found = curve(search(val, test))
    for n in range(1, 5):
        expected = []
        for draw in combinations(range(4), n):
            best = max(val[i] for i in draw)
            # Which of those that tie is found first is chance.
            expected.append(
                np.mean([30 if val[i] == 4 else test[i] for i in draw if val[i] == best])
            )
        assert found["test"][n - 1] == pytest.approx(np.mean(expected))


def test_the_interval_is_the_jackknife_over_trials_up_to_a_quarter_of_them():
    val = np.random.default_rng(0).normal(size=12)
    found = curve(search(val))
    for n, quantile in [(1, 2.201), (2, 2.571), (3, 3.182)]:  # t with 11, 5, 3 degrees
        without = [curve(search(np.delete(val, j)))["unbiased"][n - 1] for j in range(len(val))]
        half = quantile * math.sqrt(11 * np.var(without))
        row = found.row(n - 1, named=True)
        assert row["high"] - row["unbiased"] == pytest.approx(half, rel=1e-3)
        assert row["unbiased"] - row["low"] == pytest.approx(half, rel=1e-3)
    assert found["low"][3:].null_count() == 9


def test_many_trials_do_not_overflow():
    found = curve(search(np.arange(1_200.0)))
    assert found["unbiased"][-1] == pytest.approx(1_199)
    assert found["unbiased"][0] == pytest.approx(599.5)
    assert found["unbiased"].is_sorted()


def test_failed_trials_are_left_out_and_counted():
    rows = [run("c0", val=4.0), run("c1", val=2.0), run("c2", state="FAILED")]
    found = curve(runs_table(rows))
    assert found["unbiased"].to_list() == [3, 4]
    assert found.select("num_complete", "num_failed", "num_tested").row(0) == (2, 1, 0)
    assert found["test"].null_count() == 2


def test_cost_counts_failed_trials():
    rows = [
        run("c0", val=4.0, gpu_seconds=3600.0),
        run("c1", val=2.0, gpu_seconds=3600.0),
        run("c2", state="FAILED", gpu_seconds=7200.0),
    ]
    assert curve(runs_table(rows))["gpu_hours"].to_list() == pytest.approx([4 / 3, 8 / 3])
    assert curve(search([1.0, 2.0]))["gpu_hours"].null_count() == 2


def test_one_trial_has_no_interval():
    assert curve(search([1.0])).select("unbiased", "low", "high").row(0) == (1, None, None)
    assert curve(runs_table([run("c0", state="FAILED")])).is_empty()


def test_equal_means_of_folds_tie_whatever_the_order_of_the_folds():
    folds = {"c0": ((0.1, 0.2, 0.3), 0.5), "c1": ((0.3, 0.2, 0.1), 0.7)}
    assert len({sum(vals) for vals, _ in folds.values()}) == 2
    rows = [
        run(config, fold=fold, val=val, test=test)
        for config, (vals, test) in folds.items()
        for fold, val in enumerate(vals)
    ]
    assert curve(runs_table(rows))["test"].to_list() == pytest.approx([0.6, 0.6])


def test_only_independent_trials_are_accepted():
    with pytest.raises(PodiumError, match="sampler is 'tpe'"):
        expected_best(search([1.0]), sampler="tpe")
    with pytest.raises(PodiumError, match="b/l/p/0 has pruned ones"):
        curve(runs_table([run("c0", val=1.0, state="PRUNED")]))
    with pytest.raises(PodiumError, match="one run for each config"):
        curve(runs_table([run("c0", val=1.0), run("c0", val=1.0, seed=1)]))


def test_the_interval_holds_the_planted_expectation():
    num, budgets = 40, (1, 4, 10)
    draws = np.random.default_rng(77).normal(size=(200_000, 10))
    planted = {n: draws[:, :n].max(axis=1).mean() for n in budgets}
    inside = dict.fromkeys(budgets, 0)
    errors = {n: [] for n in budgets}
    for repeat in range(100):
        found = curve(search(np.random.default_rng(repeat).normal(size=num)))
        for n in budgets:
            row = found.row(n - 1, named=True)
            inside[n] += row["low"] <= planted[n] <= row["high"]
            errors[n].append(row["unbiased"] - planted[n])
    assert min(inside.values()) >= 88, inside
    for values in errors.values():
        # False alarm at 4 standard errors: 1 in 16,000.
        assert abs(np.mean(values)) < 4 * np.std(values) / 10
