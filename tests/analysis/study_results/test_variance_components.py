"""Components of finals and of searches: planted truth, and what designs cannot tell apart."""

import numpy as np
import polars as pl
import pytest

from podium.analysis.study_results.variance_components import final_components, search_components

CLASSES = (0.0004, 20)

COLUMNS = ["block", "loss", "config", "split", "stage", "score"]


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
                for run in range(1 + (again if c < 2 else 0)):
                    score = 60 + 5 * b + split_F[f] + config + both_F[f]
                    score += of_seed * rng.standard_normal()
                    stage = "final" if run else "search"
                    rows.append((f"b{b}", "l", f"c{c}", f"s{f}", stage, score))
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def by_name(components):
    return {item.name: item for item in components}


def test_planted_spreads_of_configs_splits_and_seeds_are_found():
    scores = searched(np.random.default_rng(0), blocks=25, again=4)
    found = by_name(search_components(scores))

    assert found["split"].spread == pytest.approx(3.0, rel=0.15)
    assert found["config"].spread == pytest.approx(2.0, rel=0.1)
    assert found["split_config"].spread == pytest.approx(0.8, rel=0.15)
    assert found["residual"].spread == pytest.approx(1.0, rel=0.1)
    assert found["residual"].num_levels == 25 * 2 * 3 * 3


def test_retraining_the_picks_alone_does_not_bias_the_spreads():
    """Which configs are trained again depends on their scores; the new ones do not."""
    rng = np.random.default_rng(1)
    rows = []
    for b in range(60):
        truth = 2.0 * rng.standard_normal(15)
        first = truth + rng.standard_normal(15)
        rows += [(f"b{b}", "l", f"c{c}", "s", "search", first[c]) for c in range(15)]
        best = int(first.argmax())
        again = truth[best] + rng.standard_normal(3)
        rows += [(f"b{b}", "l", f"c{best}", "s", "final", score) for score in again]
    found = by_name(search_components(pl.DataFrame(rows, schema=COLUMNS, orient="row")))

    assert found["config"].spread == pytest.approx(2.0, rel=0.08)
    assert found["residual"].spread == pytest.approx(1.0, rel=0.1)


def test_configs_tried_once_cannot_be_distinguished_from_seeds():
    found = by_name(search_components(searched(np.random.default_rng(2), splits=1)))

    assert found["config"].spread is None
    assert found["config"].note == "cannot be distinguished from seed"
    assert "together with config" in found["residual"].note


def test_validation_classes_are_a_part_of_what_varies_with_config_and_split():
    rng = np.random.default_rng(3)
    one_split = by_name(search_components(searched(rng, splits=1, again=2), CLASSES))
    assert one_split["classes"].note == "a part of config"
    no_repeat = by_name(search_components(searched(rng), CLASSES))["classes"]
    assert no_repeat.note == "a part of seed"
    assert no_repeat.spread == pytest.approx(0.02)
    both = by_name(search_components(searched(rng, again=2), CLASSES))
    assert both["classes"].note == "a part of config within split"


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
    found = by_name(final_components(final_scores(np.random.default_rng(4), blocks=1)))

    assert [item.name for item in found.values() if item.spread is not None] == ["residual"]
    assert found["block"].note == "one level only"
    assert found["classes"].note == "no classes that two were judged on"


def test_one_seed_leaves_no_estimate_of_seeds_alone():
    found = by_name(final_components(final_scores(np.random.default_rng(5), blocks=4, seeds=1)))

    assert found["block_loss"].spread is None
    assert found["residual"].note.startswith("together with loss within setting")


def test_truncation_is_said():
    scores = final_scores(np.random.default_rng(6), blocks=6)
    score = pl.col("score")
    level = score - score.mean().over("block", "loss") + score.mean().over("loss")
    found = by_name(final_components(scores.with_columns(level)))

    assert found["block_loss"].spread == 0
    assert "would be negative" in found["block_loss"].note


def test_too_few_scores_have_no_components():
    assert final_components(final_scores(np.random.default_rng(8), blocks=1).head(1)) == ()
