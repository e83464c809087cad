"""Optimism against slow recomputations from the rows, and against planted truth."""

import numpy as np
import polars as pl
import pytest

from podium.analysis.protocols.optimism import class_optimism, fresh_run_optimism
from podium.analysis.scores.protocol_run_checks import checked
from podium.errors import PodiumError
from tests.analysis.protocol_studies import final, run, runs_table
from tests.analysis.protocols.class_hit_tables import (
    both_ways,
    class_hits_of,
    slow_optimism_over_sides,
)


def optimism_of_frames(*frames, **settings):
    stacked = pl.concat(frames, how="vertical_relaxed")
    return class_optimism([checked(stacked, "class hits")], **settings).row(0, named=True)


@pytest.mark.parametrize("num_classes", [2, 3, 5, 6])
@pytest.mark.parametrize("most_hits", [2, 9])  # 2: many ties
def test_it_equals_a_slow_computation(num_classes, most_hits):
    generator = np.random.default_rng(num_classes)
    queries = generator.integers(most_hits, 12, num_classes)
    hits = generator.integers(0, most_hits + 1, (4, 3, num_classes))
    row = optimism_of_frames(class_hits_of(hits, queries), most_halves=100)
    total, epoch, score = slow_optimism_over_sides(
        {c: [hits[c]] for c in range(4)}, queries, both_ways(num_classes)
    )
    assert row["optimism"] == pytest.approx(total)
    assert row["epoch"] == pytest.approx(epoch)
    assert row["config"] == pytest.approx(total - epoch)
    assert row["score"] == pytest.approx(score)
    assert (row["num_configs"], row["num_classes"]) == (4, num_classes)


def test_each_seed_has_its_own_epoch_and_a_config_is_their_mean():
    generator = np.random.default_rng(0)
    queries = np.array([5, 7, 6, 9])
    hits = generator.integers(0, 6, (2, 3, 4, 4))
    row = optimism_of_frames(*(class_hits_of(hits[s], queries, seed=s) for s in range(2)))
    networks = {c: [hits[0, c], hits[1, c]] for c in range(3)}
    assert row["optimism"] == pytest.approx(
        slow_optimism_over_sides(networks, queries, both_ways(4))[0]
    )


def test_each_fold_has_its_own_epoch_and_is_halved_by_itself():
    hits = np.random.default_rng(1).integers(0, 6, (2, 3, 4, 2))
    row = optimism_of_frames(*(class_hits_of(hits[f], [5, 5], fold=f) for f in range(2)))
    networks = {c: [hits[0, c], hits[1, c]] for c in range(3)}
    # With two classes in each fold there is one way to halve it.
    assert row["optimism"] == pytest.approx(
        slow_optimism_over_sides(networks, [5, 5], [(0,), (1,)])[0]
    )


def test_folds_of_unlike_sizes_go_together():
    hits = np.random.default_rng(1).integers(0, 6, (3, 4, 9))
    row = optimism_of_frames(
        class_hits_of(hits[..., :2], [6, 6], fold=0), class_hits_of(hits[..., 2:], [6] * 7, fold=1)
    )
    assert row["num_classes"] == 2
    assert row["optimism"] == pytest.approx(row["epoch"] + row["config"])


def test_searches_are_not_mixed():
    hits = np.random.default_rng(2).integers(0, 9, (2, 3, 4, 6))
    frames = [class_hits_of(hits[q], [9] * 6, repeat=q) for q in range(2)]
    both = class_optimism([checked(pl.concat(frames), "class hits")])
    alone = [optimism_of_frames(frame)["optimism"] for frame in frames]
    assert both["repeat"].to_list() == [0, 1]
    assert both["optimism"].to_list() == pytest.approx(alone)


def test_the_effect_of_the_halves_averages_out_over_searches():
    hits = np.random.default_rng(3).binomial(20, 0.6, (5, 4, 12))
    class_hits = checked(
        pl.concat([class_hits_of(hits, [20] * 12, repeat=q) for q in range(6)]), "class hits"
    )
    means = [
        class_optimism([class_hits], seed=100 * seed)["optimism"].mean() for seed in range(12)
    ]
    every = class_optimism([class_hits], most_halves=924)["optimism"].mean()
    assert np.mean(means) == pytest.approx(every, abs=0.001)
    assert np.std(means) < 0.002  # 40 halves, the same in all searches, scatter by 0.004


def test_one_class_and_uneven_tables_are_refused():
    with pytest.raises(PodiumError, match=r"config c0, fold None, seed 0 has 1"):
        optimism_of_frames(class_hits_of([[[1]]], [3]))
    frame = class_hits_of([[[1, 2], [2, 2]]], [3, 3])
    with pytest.raises(PodiumError, match="same queries at each epoch; config c0"):
        optimism_of_frames(frame.head(3))
    grown = frame.with_columns(queries=pl.when(pl.col("epoch") == 1).then(4).otherwise(3))
    with pytest.raises(PodiumError, match="same queries at each epoch"):
        optimism_of_frames(grown)


def test_no_search_has_no_optimism():
    assert class_optimism([checked(class_hits_of([[[1, 2]]], 3), "class hits").clear()]).is_empty()


def test_equal_seeds_give_equal_halves():
    frame = class_hits_of(np.random.default_rng(3).integers(0, 9, (3, 4, 30)), [9] * 30)
    assert optimism_of_frames(frame, seed=1) == optimism_of_frames(frame, seed=1)
    assert optimism_of_frames(frame, seed=1) != optimism_of_frames(frame, seed=2)


def test_fresh_runs_are_compared_with_the_pick():
    rows = [
        run("c0", val=5),
        run("c1", val=9),
        run("c2", val=99, state="PRUNED"),
        run("c1", repeat=1, seed=1, val=2),
        *(
            run("c1", repeat=None, stage="final", seed=s, val=v)
            for s, v in [(7, 6), (8, 8), (6, 7)]
        ),
        run("c1", repeat=None, stage="final", seed=9, val=100, state="FAILED"),
        run("c0", repeat=None, stage="final", seed=7, val=5),
    ]
    first = fresh_run_optimism(runs_table(rows)).row(0, named=True)
    assert (first["repeat"], first["config"], first["optimism"]) == (0, "c1", 2)
    assert first["num_fresh"] == 3
    alone = fresh_run_optimism(runs_table([rows[0], rows[-1]])).row(0, named=True)
    assert (alone["config"], alone["optimism"]) == ("c0", 0)
    shared = fresh_run_optimism(runs_table(rows), across_repeats=True).row(0, named=True)
    assert shared["optimism"] == pytest.approx(9 - (6 + 8 + 7 + 2) / 4)


def test_a_pick_that_was_not_run_again_has_no_optimism():
    rows = [run("c0", val=5), final("c0", 3, 0.5)]
    row = fresh_run_optimism(runs_table(rows)).row(0, named=True)
    assert (row["optimism"], row["num_fresh"]) == (None, 0)
