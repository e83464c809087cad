"""Stability of results: against plain counts, and coverage of its intervals."""

import numpy as np
import polars as pl
import pytest

from analysis.scores.protocol_run_checks import checked_class_hits
from analysis.selection.ranking_stability import (
    epoch_stability,
    failure_rates,
    reselected_by_classes,
    reselected_by_repeats,
    seed_spread,
)
from tests.analysis.protocol_studies import run, runs_table
from tests.analysis.selection.class_hit_tables import class_hits_of


def seeds(*cells, loss="l"):
    rows = [(loss, f"b{n}", 0, score) for n, cell in enumerate(cells) for score in cell]
    return pl.DataFrame(rows, schema=["loss", "block", "repeat", "score"], orient="row")


def only(frame):
    assert frame.height == 1
    return frame.row(0, named=True)


def test_seed_spread_pools_the_variances_within_cells_by_their_degrees_of_freedom():
    first, second = [70.0, 71.0, 73.0], [50.0, 50.5]
    row = only(seed_spread(seeds(first, second)))

    pooled = (2 * np.var(first, ddof=1) + np.var(second, ddof=1)) / 3
    assert row["seed_std"] == pytest.approx(pooled**0.5)
    assert row["num_df"] == 3
    assert row["low"] < row["seed_std"] < row["high"]


def test_one_seed_has_no_spread_and_equal_seeds_have_no_interval():
    assert only(seed_spread(seeds([70.0], [71.0])))["seed_std"] is None
    row = only(seed_spread(seeds([70.0, 70.0])))
    assert (row["seed_std"], row["low"], row["high"]) == (0, None, None)


def test_the_interval_of_a_seed_spread_holds_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(200):
        row = only(seed_spread(seeds(*(70 + 0.7 * rng.standard_normal((4, 3))))))
        held += row["low"] <= 0.7 <= row["high"]

    assert 0.91 * 200 <= held <= 0.99 * 200


def curve(values, *, seed=0, loss="l", fold=None):
    return [
        {
            "block": "b",
            "loss": loss,
            "repeat": 0,
            "seed_index": seed,
            "fold": fold,
            "epoch": epoch,
            "value": value,
        }
        for epoch, value in enumerate(values, start=1)
    ]


def curves(*parts):
    schema = {
        **dict.fromkeys(("block", "loss"), pl.String),
        **dict.fromkeys(("repeat", "seed_index", "fold", "epoch"), pl.Int64),
        "value": pl.Float64,
    }
    return pl.DataFrame([row for part in parts for row in part], schema=schema)


def test_best_epochs_scatter_over_seeds_and_the_earliest_keeps_a_tie():
    frame = curves(curve([1.0, 5.0, 5.0, 4.0], seed=0), curve([1.0, 2.0, 3.0, 6.0], seed=1))
    row = only(epoch_stability(frame))

    assert row["epoch_std"] == pytest.approx(np.std([2, 4], ddof=1))
    assert row["peak_to_last"] == pytest.approx((1.0 + 0.0) / 2)
    assert row["num_networks"] == 2


def test_epochs_without_a_score_are_left_out_and_folds_are_no_seeds():
    frame = curves(curve([1.0, 9.0, None], fold=0), curve([3.0, 2.0, None], fold=1))
    row = only(epoch_stability(frame))

    assert row["epoch_std"] is None
    assert row["peak_to_last"] == pytest.approx(0.5)


def test_failures_are_counted_among_all_trials_with_an_interval_that_has_a_width_at_none():
    trials = pl.DataFrame(
        {
            "loss": ["a"] * 5 + ["b"] * 4,
            "state": ["FAILED", "PRUNED", "COMPLETE", "COMPLETE", "FAILED"] + ["COMPLETE"] * 4,
        }
    )
    a, b = failure_rates(trials).to_dicts()

    assert (a["failed"], a["num_failed"], a["num_pruned"], a["num_trials"]) == (0.4, 2, 1, 5)
    assert b["failed"] == 0
    assert 0 < b["high"] < 1


def picks(val_QC, **columns):
    return runs_table(
        run(f"c{c}", repeat=q, seed=q, val=val, **columns)
        for q, val_C in enumerate(val_QC)
        for c, val in enumerate(val_C)
    )


def test_reselection_is_the_share_of_pairs_of_repeats_that_pick_the_same_config():
    row = only(reselected_by_repeats(picks([[1.0, 2.0], [0.0, 5.0], [3.0, 1.0]])))

    assert row["reselected"] == pytest.approx(1 / 3)
    assert row["chance"] == 0.5
    assert row["num_searches"] == 3


def test_picks_that_tie_share_and_configs_of_no_other_repeat_say_nothing():
    assert only(reselected_by_repeats(picks([[2.0, 2.0], [2.0, 1.0]])))["reselected"] == 0.5
    alone = runs_table([run("c1", repeat=0, val=1.0), run("c2", repeat=1, val=1.0)])
    assert reselected_by_repeats(alone).is_empty()


def test_a_config_that_is_best_in_every_class_is_picked_whatever_the_classes():
    hits = np.tile([[[5], [6]], [[9], [4]], [[3], [8]]], 7)
    row = only(reselected_by_classes([checked_class_hits(class_hits_of(hits, 20))]))

    assert row["reselected"] == 1
    assert row["chance"] == pytest.approx(1 / 3)


def test_reselection_over_classes_is_that_of_drawing_classes_and_choosing_again():
    rng = np.random.default_rng(1)
    hits_CEK = rng.binomial(20, 0.6, size=(4, 3, 8))
    best = hits_CEK.sum(axis=2).max(axis=1)
    first = best == best.max()
    again = []
    for _ in range(3000):
        drawn = rng.integers(8, size=8)
        score = hits_CEK[:, :, drawn].sum(axis=2).max(axis=1)
        top = score == score.max()
        again.append((first / first.sum() * top / top.sum()).sum())
    row = only(
        reselected_by_classes([checked_class_hits(class_hits_of(hits_CEK, 20))], replicates=3000)
    )

    assert row["reselected"] == pytest.approx(np.mean(again), abs=0.03)


def test_searches_whose_configs_have_classes_of_their_own_are_left_out():
    hits = checked_class_hits(class_hits_of(np.ones((2, 2, 3), dtype=int), 20))
    own = hits.with_columns(
        pl.when(pl.col("config") == "c1").then(pl.col("class_id") + 10).otherwise("class_id")
    )

    assert reselected_by_classes([checked_class_hits(own)]).is_empty()
    assert reselected_by_classes([hits.filter(pl.col("class_id") == 0)]).is_empty()
    assert reselected_by_classes([hits.clear()]).is_empty()
