from itertools import combinations

import numpy as np
import pytest

from analysis.selection.overtuning import overtuning_curve
from podium.errors import PodiumError
from tests.analysis.protocol_studies import final, run, runs_table, searched_and_tested


def slow_overtuning(val, test):
    """At each new incumbent: its number, mean test, best mean so far minus its own."""
    incumbents = [i for i in range(len(val)) if all(val[i] > earlier for earlier in val[:i])]
    found, best = [], -np.inf
    for i in incumbents:
        best = max(best, np.mean(test[i]))
        found.append((i, np.mean(test[i]), best - np.mean(test[i])))
    return found


def slow_cross_fitted(val, test):
    incumbents = [i for i in range(len(val)) if all(val[i] > earlier for earlier in val[:i])]
    num = test.shape[1]
    found = []
    for step in range(len(incumbents)):
        so_far = incumbents[: step + 1]
        values = []
        for side in combinations(range(num), num // 2):
            rest = [s for s in range(num) if s not in side]
            best = max(so_far, key=lambda i, side=side: test[i, side].mean())
            values.append(test[best, rest].mean() - test[so_far[-1], rest].mean())
        found.append(np.mean(values))
    return found


def test_the_curve_equals_a_slow_one():
    generator = np.random.default_rng(4)
    val, test = generator.normal(size=30), generator.normal(size=(30, 6))
    curve = overtuning_curve(searched_and_tested(val, test))
    expected = slow_overtuning(val, test)
    assert len(expected) > 2
    assert curve["index"].to_list() == [i for i, _, _ in expected]
    assert curve["test"].to_list() == pytest.approx([mean for _, mean, _ in expected])
    assert curve["overtuning"].to_list() == pytest.approx([lost for _, _, lost in expected])
    assert curve["cross_fitted"].to_list() == pytest.approx(slow_cross_fitted(val, test))


def test_the_first_incumbent_overtunes_nothing_and_a_tie_changes_nothing():
    curve = overtuning_curve(searched_and_tested([1, 1, 2], [[5, 5.0], [9, 9], [3, 3]]))
    assert curve["incumbent"].to_list() == ["c0", "c2"]
    assert curve["overtuning"].to_list() == curve["cross_fitted"].to_list() == [0, 2]


def test_one_test_run_has_no_cross_fitted_curve_and_none_has_no_test():
    curve = overtuning_curve(searched_and_tested([1, 2], [[5.0], [3.0]]))
    assert curve["overtuning"].to_list() == [0, 2]
    assert curve["cross_fitted"].to_list() == [None, None]
    untested = overtuning_curve(runs_table([run("c0", val=1), run("c1", val=2)]))
    assert untested.select("test", "overtuning").rows() == [(None, None)] * 2


def test_only_runs_that_all_incumbents_have_are_compared():
    rows = [run("c0", val=1), run("c1", val=2), final("c0", 1, 9.0)]
    rows += [
        final(config, seed, test) for config, test in [("c0", 1), ("c1", 2)] for seed in (2, 3)
    ]
    curve = overtuning_curve(runs_table(rows))
    assert curve["test"].to_list() == [1, 2]
    assert curve["num_runs"].to_list() == [2, 2]


def test_the_maximum_is_optimistic_and_cross_fitting_is_not():
    # All configs are equal on test: nothing can be given away.
    plain, crossed = [], []
    for seed in range(60):
        generator = np.random.default_rng(seed)
        frame = searched_and_tested(np.arange(8.0), generator.normal(size=(8, 4)))
        last = overtuning_curve(frame).row(-1, named=True)
        plain.append(last["overtuning"])
        crossed.append(last["cross_fitted"])
    assert np.mean(plain) > 0.4
    # False alarm at 4 standard errors: 1 in 16,000.
    assert abs(np.mean(crossed)) < 4 * np.std(crossed) / np.sqrt(60)


def test_a_search_without_order_is_refused():
    with pytest.raises(PodiumError, match="index' is empty for a config of b/l/p, repeat 0"):
        overtuning_curve(runs_table([run("c0", val=1, index=None)]))
