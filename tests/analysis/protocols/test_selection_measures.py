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
)


def measures_of(runs):
    """One row per search."""
    return choice_cells(config_candidates(runs))[None]


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


def test_blocks_losses_and_protocols_are_never_mixed():
    frame = searched_and_tested([1, 2, 3], [[1, 1.0], [2, 2], [3, 3]])
    turned = frame.with_columns(val=-pl.col("val"))
    for column in ("block", "loss", "protocol"):
        both = pl.concat([frame, turned.with_columns(pl.lit("z").alias(column))])
        assert measures_of(both)["tau"].to_list() == pytest.approx([1, -1])


def test_one_config_no_test_or_equal_scores_have_no_order():
    alone = measures([1], [[1, 2.0]])
    untested = measures_of(runs_table([run("c0", val=1), run("c1", val=2)])).row(0, named=True)
    for row in (alone, untested):
        assert row["tau"] is row["top_1"] is row["ceiling"] is None
    equal = measures([1, 1, 1, 1], [[1.0], [2], [3], [4]])
    assert (equal["tau"], equal["top_1"]) == (None, 0.25)


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
    generator = np.random.default_rng(5)
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
