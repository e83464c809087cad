"""Agreement and overtuning of each search against scipy, slow enumerations and planted truth."""

import math
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from podium.analysis.protocols.selection_candidates import config_candidates
from podium.analysis.protocols.selection_measures import choice_cells
from tests.analysis.protocol_studies import (
    final,
    run,
    runs_table,
    searched_and_tested,
    shared_configs,
)


def measures_of(runs):
    """One row per search."""
    return choice_cells(config_candidates(runs)).whole


def measures(*study):
    return measures_of(searched_and_tested(*study)).row(0, named=True)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_search_equals_a_slow_computation(seed):
    generator = np.random.default_rng(seed)
    val, test = generator.integers(0, 4, 7), generator.integers(0, 6, (7, 4)).astype(float)
    means = test.mean(axis=1)
    row = measures(val, test)
    assert row["tau"] == pytest.approx(kendalltau(val, means).statistic)
    picks, best = np.flatnonzero(val == val.max()), np.flatnonzero(means == means.max())
    assert row["top_1"] == pytest.approx(np.mean([pick in best for pick in picks]))
    assert row["picked_test"] == pytest.approx(means[picks].mean())
    halves = [
        kendalltau(test[:, side].mean(axis=1), np.delete(test, side, axis=1).mean(axis=1))
        for side in combinations(range(4), 2)
    ]
    assert row["ceiling"] == pytest.approx(np.mean([half.statistic for half in halves]))
    rest = test - test.mean(axis=0)
    rest = rest - rest.mean(axis=1, keepdims=True)
    error = math.sqrt((rest**2).sum() / (6 * 3) / 4)
    assert row["at_ceiling"] == pytest.approx(np.mean(means >= means.max() - error))
    assert (row["num_configs"], row["num_runs"]) == (7, 4)


def test_the_runs_of_a_search_do_not_score_its_own_choice():
    val, test = np.random.default_rng(0).normal(size=(2, 3, 6))
    taus = measures_of(shared_configs(val, test))["tau"]
    for q in range(3):
        others = np.delete(test, q, axis=0).mean(axis=0)
        assert taus[q] == pytest.approx(kendalltau(val[q], others).statistic)


def test_blocks_losses_and_protocols_are_never_mixed():
    frame = searched_and_tested([1, 2, 3], [[1, 1.0], [2, 2], [3, 3]])
    turned = frame.with_columns(val=-pl.col("val"))
    for column in ("block", "loss", "protocol"):
        both = pl.concat([frame, turned.with_columns(pl.lit("z").alias(column))])
        assert measures_of(both)["tau"].to_list() == pytest.approx([1, -1])


def test_pruned_failed_and_untested_configs_are_not_compared():
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
    row = measures_of(runs_table(rows)).row(0, named=True)
    assert (row["tau"], row["top_1"], row["ceiling"]) == (1, None, None)


def test_one_config_no_test_or_equal_scores_have_no_order():
    alone = measures([1], [[1, 2.0]])
    untested = measures_of(runs_table([run("c0", val=1), run("c1", val=2)])).row(0, named=True)
    for row in (alone, untested):
        assert row["tau"] is row["top_1"] is row["ceiling"] is None
    equal = measures([1, 1, 1, 1], [[1.0], [2], [3], [4]])
    assert (equal["tau"], equal["top_1"]) == (None, 0.25)


def planted_tau(correlation):
    return 2 / math.pi * math.asin(correlation)


def test_the_ceiling_is_the_planted_agreement_of_two_halves():
    ceilings = []
    for repeat in range(60):
        generator = np.random.default_rng(repeat)
        true_C = generator.normal(size=20)
        val_C = true_C + generator.normal(0, 0.7, 20)
        shared_S = generator.normal(0, 0.5, 4)
        test_CS = true_C[:, None] + shared_S + generator.normal(size=(20, 4))
        ceilings.append(measures(val_C, test_CS)["ceiling"])
    # False alarm at 4 standard errors: 1 in 16,000.
    error = np.std(ceilings) / math.sqrt(60)
    assert abs(np.mean(ceilings) - planted_tau(1 / (1 + 1 / 2))) < 4 * error


def slow_overtuning(val, test):
    """The best incumbent on each half minus the last one, both scored on the other half."""
    incumbents = [i for i in range(len(val)) if all(val[i] > earlier for earlier in val[:i])]
    found = []
    for side in combinations(range(test.shape[1]), test.shape[1] // 2):
        rest = [s for s in range(test.shape[1]) if s not in side]
        best = max(incumbents, key=lambda i, side=side: test[i, side].mean())
        found.append(test[best, rest].mean() - test[incumbents[-1], rest].mean())
    assert len(incumbents) > 2
    return np.mean(found)


def test_overtuning_equals_a_slow_computation():
    generator = np.random.default_rng(4)
    val, test = generator.normal(size=30), generator.normal(size=(30, 6))
    assert measures(val, test)["overtuning"] == pytest.approx(slow_overtuning(val, test))


def test_the_first_incumbent_overtunes_nothing_and_a_tie_changes_nothing():
    assert measures([1, 1], [[5, 5.0], [9, 9]])["overtuning"] == 0
    assert measures([1, 1, 2], [[5, 5.0], [9, 9], [3, 3]])["overtuning"] == 2


def test_overtuning_takes_two_test_runs_of_all_incumbents():
    assert measures([1, 2], [[5.0], [3.0]])["overtuning"] is None
    rows = [run("c0", val=1), run("c1", val=2), final("c0", 1, 9.0)]
    rows += [
        final(config, seed, test) for config, test in [("c0", 1), ("c1", 2)] for seed in (2, 3)
    ]
    assert measures_of(runs_table(rows))["overtuning"].to_list() == [0]


def test_where_all_configs_are_equal_nothing_is_given_away():
    crossed = []
    for seed in range(60):
        test = np.random.default_rng(seed).normal(size=(8, 4))
        crossed.append(measures(np.arange(8.0), test)["overtuning"])
    # False alarm at 4 standard errors: 1 in 16,000.
    assert abs(np.mean(crossed)) < 4 * np.std(crossed) / np.sqrt(60)
