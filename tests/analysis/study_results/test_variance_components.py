"""Components of finals and of searches: planted truth, and what designs cannot tell apart."""

import numpy as np
import polars as pl
import pytest

from analysis.estimates.class_variance import ClassVariance
from analysis.study_results.variance_components import final_components, search_components

CLASSES = ClassVariance(
    level=0.0009,
    own=0.0004,
    own_low=0.0001,
    own_high=0.0009,
    shared=0.56,
    class_correlation=0.1,
    num_classes=20,
    num_groups=4,
)


def searched(rng, blocks=6, configs=12, splits=3, again=0, spreads=(3.0, 2.0, 0.8, 1.0)):
    """Configs judged on splits, two trained ``again``; spreads of split, config, both, seed."""
    of_split, of_config, of_both, of_seed = spreads
    rows = []
    for b in range(blocks):
        split_F = of_split * rng.standard_normal(splits)
        for c in range(configs):
            config = of_config * rng.standard_normal()
            both_F = of_both * rng.standard_normal(splits)
            for f in range(splits):
                for _ in range(1 + (again if c < 2 else 0)):
                    score = 60 + 5 * b + split_F[f] + config + both_F[f]
                    score += of_seed * rng.standard_normal()
                    rows.append((f"b{b}", "l", f"c{c}", f"s{f}", score))
    return pl.DataFrame(rows, schema=["block", "loss", "config", "split", "score"], orient="row")


def spreads_of(components):
    return {item.name: item.spread for item in components.estimates if item.spread is not None}


def test_planted_spreads_of_configs_splits_and_seeds_are_found():
    scores = searched(np.random.default_rng(0), blocks=25, again=4)
    found = search_components(scores, with_intervals=False)

    assert found.of("split").spread == pytest.approx(3.0, rel=0.15)
    assert found.of("config").spread == pytest.approx(2.0, rel=0.1)
    assert found.of("split_config").spread == pytest.approx(0.8, rel=0.1)
    assert found.of("residual").spread == pytest.approx(1.0, rel=0.1)
    assert (found.num_rows, found.num_blocks) == (scores.height, 25)


def test_retraining_the_picks_alone_does_not_bias_the_spreads():
    """Which configs are trained again depends on their scores, which are all in."""
    rng = np.random.default_rng(1)
    rows = []
    for b in range(60):
        truth = 2.0 * rng.standard_normal(15)
        first = truth + rng.standard_normal(15)
        rows += [(f"b{b}", "l", f"c{c}", "s", first[c]) for c in range(15)]
        best = int(first.argmax())
        again = truth[best] + rng.standard_normal(3)
        rows += [(f"b{b}", "l", f"c{best}", "s", score) for score in again]
    columns = ["block", "loss", "config", "split", "score"]
    found = search_components(
        pl.DataFrame(rows, schema=columns, orient="row"), with_intervals=False
    )

    assert found.of("config").spread == pytest.approx(2.0, rel=0.08)
    assert found.of("residual").spread == pytest.approx(1.0, rel=0.1)


def test_configs_tried_once_cannot_be_distinguished_from_seeds():
    found = search_components(searched(np.random.default_rng(2), splits=1), with_intervals=False)

    assert found.of("config").spread is None
    assert found.of("config").note == "cannot be distinguished from seed"
    assert "together with config" in found.of("residual").note


def test_validation_classes_are_a_part_of_what_varies_with_config_and_split():
    rng = np.random.default_rng(3)
    one_split = search_components(searched(rng, splits=1, again=2), CLASSES, with_intervals=False)
    assert one_split.of("classes").part_of == "config"
    no_repeat = search_components(searched(rng), CLASSES, unit=100, with_intervals=False)
    assert no_repeat.of("classes").part_of == "residual"
    assert no_repeat.of("classes").note == "a part of seed"
    assert no_repeat.of("classes").spread == pytest.approx(2.0)
    assert no_repeat.of("classes").high == pytest.approx(3.0)
    both = search_components(searched(rng, again=2), CLASSES, with_intervals=False)
    assert both.of("classes").part_of == "split_config"


def final_scores(rng, blocks, losses=3, seeds=4):
    rows = [
        (f"b{b}", f"l{loss}", 0, "s", 70 + 5 * b + rng.standard_normal())
        for b in range(blocks)
        for loss in range(losses)
        for _ in range(seeds)
    ]
    columns = ["block", "loss", "repeat", "split", "score"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def test_a_factor_with_one_level_has_no_estimate_and_says_so():
    found = final_components(final_scores(np.random.default_rng(4), blocks=1))

    assert [item.name for item in found.estimates if item.spread is not None] == ["residual"]
    assert found.of("block").note == "one level only"
    assert found.of("classes").note == "no classes that two were judged on"


def test_one_seed_leaves_no_estimate_of_seeds_alone():
    found = final_components(final_scores(np.random.default_rng(5), blocks=4, seeds=1))

    assert found.of("block_loss").spread is None
    assert found.of("residual").note.startswith("together with loss within block")


def test_truncation_is_said():
    rows = []
    rng = np.random.default_rng(6)
    for b in range(6):
        for loss in range(3):
            noise = rng.standard_normal(4)
            noise -= noise.mean()
            rows += [(f"b{b}", f"l{loss}", 0, "s", 70 + value) for value in noise]
    columns = ["block", "loss", "repeat", "split", "score"]
    found = final_components(pl.DataFrame(rows, schema=columns, orient="row"))

    assert found.of("block_loss").spread == 0
    assert "would be negative" in found.of("block_loss").note


def test_units_scale_spreads_and_too_few_scores_give_none():
    scores = searched(np.random.default_rng(7), blocks=3, again=1)
    shares = scores.with_columns(pl.col("score") / 100)
    points = spreads_of(search_components(scores, with_intervals=False))
    again = spreads_of(search_components(shares, unit=100, with_intervals=False))

    assert again == pytest.approx(points, rel=1e-3, abs=1e-3)
    assert final_components(final_scores(np.random.default_rng(8), blocks=1).head(1)) is None
