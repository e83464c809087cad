"""Standard errors against simulated studies, and what the cheapest replication is."""

import numpy as np
import polars as pl
import pytest

from analysis.study_results.next_replication import Hours, levels_of, replications, standard_error
from analysis.study_results.variance_components import final_components

TRUTH = {"block": 4.0, "block_loss": 0.8, "search": 0.6, "split": 1.0, "split_loss": 0.5}
SEED = 0.7


def study(rng, blocks=4, losses=3, repeats=2, splits=2, seeds=2, truth=TRUTH, seed_std=SEED):
    """Finals of searches that share the splits of their block."""
    rows = []
    for b in range(blocks):
        block = truth["block"] * rng.standard_normal()
        split_F = truth["split"] * rng.standard_normal(splits)
        for loss in range(losses):
            own = truth["block_loss"] * rng.standard_normal()
            split_loss_F = truth["split_loss"] * rng.standard_normal(splits)
            for r in range(repeats):
                search = truth["search"] * rng.standard_normal()
                for f in range(splits):
                    level = 70 + block + own + search + split_F[f] + split_loss_F[f]
                    for _ in range(seeds):
                        score = level + seed_std * rng.standard_normal()
                        rows.append((f"b{b}", f"l{loss}", r, f"s{f}", score))
    columns = ["block", "loss", "repeat", "split", "score"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def true_error(levels):
    total = (
        TRUTH["block_loss"] ** 2 / levels.block
        + TRUTH["search"] ** 2 / levels.search
        + TRUTH["split_loss"] ** 2 / levels.split
        + SEED**2 / levels.run
    )
    return (2 * total) ** 0.5


def test_levels_are_counted_for_each_loss():
    levels = levels_of(study(np.random.default_rng(0)))

    assert (levels.block, levels.search, levels.split, levels.run) == (4, 8, 8, 32)
    assert (levels.repeats, levels.splits, levels.seeds) == (2, 2, 2)
    assert not levels.are_splits_own


def test_the_formula_is_the_scatter_of_differences_in_studies_done_again_and_again():
    rng = np.random.default_rng(1)
    differences = []
    for _ in range(1500):
        scores = study(rng, blocks=2, losses=2)
        means = dict(scores.group_by("loss").agg(pl.col("score").mean()).iter_rows())
        differences.append(means["l0"] - means["l1"])
    levels = levels_of(scores)

    assert np.std(differences) == pytest.approx(true_error(levels), rel=0.06)


def test_the_estimated_error_is_near_the_true_one():
    rng = np.random.default_rng(2)
    found = []
    for _ in range(12):
        scores = study(rng, blocks=8)
        components = final_components(scores)
        found.append(standard_error(components, levels_of(scores)) ** 2)

    assert np.mean(found) ** 0.5 == pytest.approx(true_error(levels_of(scores)), rel=0.15)


def test_one_more_seed_lowers_the_seeds_part_alone():
    scores = study(np.random.default_rng(3))
    components, levels = final_components(scores), levels_of(scores)
    seed = next(
        item
        for item in replications(components, levels, Hours(search=3, final=6))
        if item.name == "seed"
    )
    less = 2 * components.of("residual").variance * (1 / 32 - 1 / 48)

    assert seed.hours == 3  # two seeds took six hours
    now = standard_error(components, levels)
    assert seed.error == pytest.approx((now**2 - less) ** 0.5)
    assert seed.gain == pytest.approx((now - seed.error) / 3)


def test_where_seeds_scatter_and_are_cheap_they_come_first_where_blocks_differ_blocks_do():
    quiet = dict.fromkeys(TRUTH, 0.05)
    scores = study(np.random.default_rng(4), truth=quiet, seed_std=3.0)
    first = replications(final_components(scores), levels_of(scores), Hours(search=50, final=1))
    assert first[0].name == "seed"
    scores = study(np.random.default_rng(4), truth=quiet | {"block_loss": 3.0}, seed_std=0.05)
    first = replications(final_components(scores), levels_of(scores), Hours(search=1, final=1))
    assert first[0].name == "block"


def test_what_there_is_one_of_has_a_price_but_no_promise():
    scores = study(np.random.default_rng(5), repeats=1, splits=1, seeds=2)
    options = replications(final_components(scores), levels_of(scores), Hours(search=2, final=4))
    unknown = {item.name: item for item in options if item.error is None}

    assert set(unknown) == {"split", "repeat of the search"}
    assert unknown["repeat of the search"].hours == 6
    assert "one split so far" in unknown["split"].reason
    assert [item.error is None for item in options] == [False, False, True, True]


def test_repeats_with_splits_of_their_own_bring_new_splits():
    frames = []
    rng = np.random.default_rng(6)
    for r in range(3):
        part = study(rng, repeats=1, splits=1)
        frames.append(
            part.with_columns(
                pl.lit(r).alias("repeat"), (pl.col("split") + f" of {r}").alias("split")
            )
        )
    levels = levels_of(pl.concat(frames, how="vertical_relaxed"))

    assert levels.are_splits_own
    assert (levels.repeats, levels.splits) == (3, 1)


def test_hours_that_are_unknown_promise_nothing():
    scores = study(np.random.default_rng(7))
    options = replications(final_components(scores), levels_of(scores), Hours(search=0, final=0))

    assert all(item.gain is None for item in options)
