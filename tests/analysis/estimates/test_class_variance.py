"""Variances over classes against resampling, plain sums and planted truth."""

import numpy as np
import polars as pl
import pytest

from analysis.estimates.class_variance import class_variance


def hits_table(hits_GMK, queries_GMK):
    """Hits of groups by members by classes."""
    group, member, class_id = np.indices(np.shape(hits_GMK)).reshape(3, -1)
    return pl.DataFrame(
        {
            "block": [f"b{g}" for g in group],
            "loss": [f"l{m}" for m in member],
            "class_id": class_id,
            "queries": np.broadcast_to(queries_GMK, np.shape(hits_GMK)).reshape(-1),
            "hits": np.asarray(hits_GMK).reshape(-1),
        }
    )


def found(hits_GMK, queries_GMK):
    return class_variance([hits_table(hits_GMK, queries_GMK)], group=["block"], member=["loss"])


def drawn(rng, classes, members, common=0.12, own=0.06, queries=40):
    """Classes of common and own difficulty; returns hits (members, classes)."""
    shared_K = common * rng.standard_normal(classes)
    rates = 0.6 + shared_K + own * rng.standard_normal((members, classes))
    return rng.binomial(queries, np.clip(rates, 0, 1))


def test_the_level_is_the_variance_of_recall_when_classes_are_resampled():
    rng = np.random.default_rng(0)
    hits_MK = drawn(rng, 60, 2)
    queries_K = rng.integers(20, 60, size=60)
    hits_MK = np.minimum(hits_MK, queries_K)
    drawn_RK = rng.integers(60, size=(20_000, 60))
    recalls = hits_MK[:, drawn_RK].sum(axis=2) / queries_K[drawn_RK].sum(axis=1)
    result = found(hits_MK[None], queries_K)

    assert result.level == pytest.approx(recalls.var(axis=1).mean(), rel=0.06)
    difference = recalls[0] - recalls[1]
    assert result.own == pytest.approx(difference.var() / 2, rel=0.06)
    assert result.shared == pytest.approx(
        np.cov(recalls)[0, 1] / recalls.var(axis=1).mean(), abs=0.03
    )


def test_what_members_do_not_share_is_half_the_variance_of_their_differences_over_pairs():
    hits_MK = drawn(np.random.default_rng(1), 9, 4)
    recalls_MK = hits_MK / 40
    pairs = [
        (recalls_MK[a] - recalls_MK[b]).var(ddof=1) / 9 / 2 for a in range(4) for b in range(a)
    ]

    assert found(hits_MK[None], 40).own == pytest.approx(np.mean(pairs))


def test_the_class_correlation_that_was_planted_is_found():
    rng = np.random.default_rng(2)
    # Rates of Beta(a, b): correlation of two queries of a class is 1 / (a + b + 1).
    rates = rng.beta(3, 2, size=(20, 1, 80))
    hits = rng.binomial(30, np.repeat(rates, 2, axis=1))

    assert found(hits, 30).class_correlation == pytest.approx(1 / 6, abs=0.015)


def test_independent_queries_have_no_class_correlation_to_speak_of():
    rng = np.random.default_rng(3)
    hits = rng.binomial(30, 0.7, size=(30, 1, 60))

    result = found(hits, 30)
    assert result.class_correlation == pytest.approx(0, abs=0.01)
    assert result.own is None
    assert result.shared is None


def test_equal_members_share_everything_and_have_nothing_of_their_own():
    hits = np.repeat(drawn(np.random.default_rng(4), 10, 1), 3, axis=0)

    result = found(hits[None], 40)
    assert result.own == 0
    assert result.shared == 1


def test_members_without_all_classes_and_groups_of_one_class_are_left_out():
    hits = drawn(np.random.default_rng(5), 6, 3)[None]
    whole = hits_table(hits, 40)
    lacking = whole.filter(~((pl.col("loss") == "l2") & (pl.col("class_id") == 5)))
    two = class_variance([lacking], group=["block"], member=["loss"])

    assert two == found(hits[:, :2], 40)
    assert found(hits[:, :, :1], 40) is None
    assert class_variance([whole.clear()], group=["block"], member=["loss"]) is None


def test_classes_that_are_all_right_have_no_correlation():
    result = found(np.full((1, 2, 5), 7), 7)

    assert result.level == 0
    assert result.class_correlation is None
    assert result.shared is None


def test_rows_of_one_class_are_summed_in_any_order():
    hits = drawn(np.random.default_rng(6), 8, 3)[None]
    frame = hits_table(hits, 40)
    halves = pl.concat(
        [
            frame.with_columns(pl.col("hits") // 2, pl.lit(20).alias("queries")),
            frame.with_columns(pl.col("hits") - pl.col("hits") // 2, pl.lit(20).alias("queries")),
        ],
        how="vertical_relaxed",
    ).sample(fraction=1, shuffle=True, seed=1)

    assert class_variance([halves], group=["block"], member=["loss"]) == found(hits, 40)
