"""Incumbents of searches, followed trial by trial."""

import numpy as np
import polars as pl
import pytest

from analysis.selection.incumbents import budget_means, incumbent_curves, mean_halves
from tests.analysis.protocol_studies import PLACE, run, runs_table


def curve_of(rows):
    return incumbent_curves(runs_table(rows))


def test_the_incumbent_is_the_best_complete_trial_so_far_and_the_earliest_keeps_a_tie():
    found = curve_of(
        [
            run("c0", val=0.5, test=0.1, gpu_seconds=3600.0),
            run("c1", val=0.5, test=0.9, gpu_seconds=1800.0),
            run("c2", val=0.9, test=0.8, state="PRUNED", gpu_seconds=1800.0),
            run("c3", val=0.7, test=0.3, gpu_seconds=3600.0),
        ]
    )

    assert found["val"].to_list() == [0.5, 0.5, 0.5, 0.7]
    assert found["test"].to_list() == [0.1, 0.1, 0.1, 0.3]
    assert found["gpu_hours"].to_list() == [1.0, 1.5, 2.0, 3.0]
    assert found["num_trials"].to_list() == [1, 2, 3, 4]


def test_before_the_first_complete_trial_there_is_none_and_unknown_times_stay_unknown():
    found = curve_of(
        [
            run("c0", state="FAILED", gpu_seconds=3600.0),
            run("c1", val=0.4),
            run("c2", val=0.6, gpu_seconds=3600.0),
        ]
    )

    assert found["val"].to_list() == [None, 0.4, 0.6]
    assert found["test"].to_list() == [None, None, None]
    assert found["gpu_hours"].to_list() == [1.0, None, None]


def test_an_incumbent_that_was_not_tested_has_no_test_score():
    found = curve_of([run("c0", val=0.4, test=0.2), run("c1", val=0.6)])

    assert found["test"].to_list() == [0.2, None]


def test_random_trials_are_followed_as_a_loop_would():
    rng = np.random.default_rng(0)
    val_C, test_C = rng.integers(0, 6, size=(2, 40)) / 10
    rows = [
        run(f"c{c}", val=v, test=t) for c, (v, t) in enumerate(zip(val_C, test_C, strict=True))
    ]
    best, tested, expected = -1.0, None, []
    for v, t in zip(val_C, test_C, strict=True):
        if v > best:
            best, tested = v, t
        expected.append((best, tested))
    found = incumbent_curves(runs_table(rows).sample(fraction=1, shuffle=True, seed=3))

    assert found["val"].to_list() == pytest.approx([best for best, _ in expected])
    assert found["test"].to_list() == pytest.approx([tested for _, tested in expected])


def searches(**values_by_search):
    rows = [
        {
            **PLACE,
            "block": block,
            "repeat": 0,
            "num_trials": n,
            "val": value,
            "gpu_hours": float(n),
        }
        for block, values in values_by_search.items()
        for n, value in enumerate(values, start=1)
    ]
    return pl.DataFrame(rows)


def test_means_are_centred_in_each_block_and_end_where_the_shortest_search_does():
    found = budget_means(searches(a=[0.2, 0.3, 0.9], b=[0.8, 0.8]), ("val",))

    assert found["num_trials"].to_list() == [1, 2]
    assert found["val"].to_list() == pytest.approx([0.0, 0.05])
    assert found["val_std"].to_list() == pytest.approx([0.0, np.std([0.1, 0.0], ddof=1)])
    assert found["num_searches"].to_list() == [2, 2]


def test_one_search_has_no_spread_and_a_missing_score_is_no_zero():
    alone = budget_means(searches(a=[0.2, 0.3]), ("val",))
    assert alone["val_std"].to_list() == [None, None]
    holes = budget_means(searches(a=[None, 0.3], b=[0.1, 0.2]), ("val",))
    assert holes["val"].to_list()[0] is None


def test_halves_of_independent_searches_shrink_and_those_of_shared_configs_do_not():
    rows = [
        {"loss": "l", "num_trials": 1, "block": block, "half": half}
        for block, halves in {"a": (0.3, 0.4), "b": (0.6, 0.8)}.items()
        for half in halves
    ]
    alone = mean_halves(pl.DataFrame(rows), are_shared=False)["half"][0]
    assert alone == pytest.approx(np.hypot(0.25, 0.5) / 2)
    shared = mean_halves(pl.DataFrame(rows), are_shared=True)["half"][0]
    assert shared == pytest.approx(np.hypot(0.35, 0.7) / 2)
    unknown = pl.DataFrame([*rows, {**rows[0], "half": None}])
    assert mean_halves(unknown, are_shared=True)["half"][0] is None
