"""Luck by loss: means of single searches, and what their intervals are over."""

import numpy as np
import polars as pl
import pytest

from analysis.scores.protocol_run_checks import checked_class_hits
from analysis.selection.optimism import class_optimism
from analysis.selection.optimism_of_losses import (
    optimism_over_classes_by_loss,
    optimism_over_runs_by_loss,
)
from tests.analysis.protocol_studies import PLACE, run, runs_table


def search_hits(rng, *, block="b", repeat=0, classes=6, first_class=0):
    hits_CEK = rng.binomial(20, 0.6, size=(5, 3, classes))
    config, epoch, class_id = np.indices(hits_CEK.shape).reshape(3, -1)
    frame = pl.DataFrame(
        {
            "config": [f"c{c}" for c in config],
            "epoch": epoch,
            "class_id": class_id + first_class,
            "queries": 20,
            "hits": hits_CEK.reshape(-1),
        }
    )
    values = {**PLACE, "block": block, "repeat": repeat, "seed": 0, "fold": None}
    return frame.with_columns(pl.lit(value).alias(name) for name, value in values.items())


def stacked_hits(*frames):
    return checked_class_hits(pl.concat(frames, how="vertical_relaxed"))


def part_of(found, part):
    return found.filter(pl.col("part") == part).row(0, named=True)


def test_over_blocks_it_is_the_mean_of_the_searches_with_students_interval():
    rng = np.random.default_rng(0)
    hits = stacked_hits(*(search_hits(rng, block=f"b{n}") for n in range(3)))
    found = optimism_over_classes_by_loss([hits], has_one_split=True)
    alone = class_optimism([hits], replicates=0)

    for part in ("optimism", "epoch", "config"):
        row = part_of(found, part)
        half = 4.302653 * alone[part].std(ddof=1) / 3**0.5
        assert row["mean"] == pytest.approx(alone[part].mean())
        assert (row["low"], row["high"]) == pytest.approx((row["mean"] - half, row["mean"] + half))
        assert (row["over"], row["num_searches"]) == ("blocks", 3)
    assert part_of(found, "optimism")["mean"] == pytest.approx(
        part_of(found, "epoch")["mean"] + part_of(found, "config")["mean"]
    )


def test_repeats_count_where_they_have_splits_of_their_own_and_are_more_than_blocks():
    rng = np.random.default_rng(1)
    hits = stacked_hits(*(search_hits(rng, repeat=q) for q in range(3)))

    assert (
        part_of(optimism_over_classes_by_loss([hits], has_one_split=False), "epoch")["over"]
        == "repeats"
    )
    one_split = part_of(optimism_over_classes_by_loss([hits], has_one_split=True), "epoch")
    assert (one_split["over"], one_split["low"], one_split["num_searches"]) == ("", None, 3)


def test_a_single_search_has_the_bootstrap_over_its_classes():
    hits = stacked_hits(search_hits(np.random.default_rng(2)))
    row = part_of(optimism_over_classes_by_loss([hits], has_one_split=True), "config")
    alone = class_optimism([hits]).row(0, named=True)

    assert row["over"] == "classes"
    assert (row["low"], row["high"]) == (alone["config_low"], alone["config_high"])


def test_networks_with_one_class_are_left_out():
    assert optimism_over_classes_by_loss(
        [stacked_hits(search_hits(np.random.default_rng(3), classes=1))], has_one_split=True
    ).is_empty()


def test_optimism_over_runs_is_what_a_pick_loses_when_it_is_trained_again():
    runs = runs_table([run("c0", val=0.5), run("c1", val=0.8)])
    again = runs_table(
        [
            run("c1", stage="final", seed=seed, val=val)
            for seed, val in ((7, 0.7), (8, 0.6), (9, 0.65))
        ]
    )
    row = part_of(optimism_over_runs_by_loss(runs, again, has_one_split=True), "run")

    assert row["mean"] == pytest.approx(0.15)
    assert row["low"] < 0.15 < row["high"]
    assert (row["over"], row["num_searches"]) == ("seeds", 1)
    assert optimism_over_runs_by_loss(runs, again.clear(), has_one_split=True).is_empty()


def test_equal_configs_have_the_optimism_that_was_planted():
    """Of eight equal runs the best is 1.42 standard deviations above a fresh one."""
    rng = np.random.default_rng(4)
    rows, again = [], []
    for b in range(150):
        rows += [run(f"c{c}", block=f"b{b}", val=v) for c, v in enumerate(rng.standard_normal(8))]
        again += [
            run(f"c{c}", block=f"b{b}", stage="final", seed=9, val=v)
            for c, v in enumerate(rng.standard_normal(8))
        ]
    row = part_of(
        optimism_over_runs_by_loss(runs_table(rows), runs_table(again), has_one_split=True), "run"
    )

    assert row["low"] < 1.4236 < row["high"]
    assert row["mean"] == pytest.approx(1.4236, abs=0.25)
