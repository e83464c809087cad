"""Variances over classes against resampling and plain sums."""

import numpy as np
import polars as pl
import pytest

from podium.analysis.estimates.class_variance import class_variance


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


def test_what_members_do_not_share_is_half_the_variance_of_their_differences_over_pairs():
    hits_MK = drawn(np.random.default_rng(1), 9, 4)
    recalls_MK = hits_MK / 40
    pairs = [
        (recalls_MK[a] - recalls_MK[b]).var(ddof=1) / 9 / 2 for a in range(4) for b in range(a)
    ]

    assert found(hits_MK[None], 40)[0] == pytest.approx(np.mean(pairs))


def test_a_single_member_has_nothing_of_its_own():
    assert found(drawn(np.random.default_rng(3), 10, 1)[None], 40)[0] is None


def test_equal_members_have_nothing_of_their_own():
    hits = np.repeat(drawn(np.random.default_rng(4), 10, 1), 3, axis=0)

    assert found(hits[None], 40)[0] == 0


def test_members_without_all_classes_and_groups_of_one_class_are_left_out():
    hits = drawn(np.random.default_rng(5), 6, 3)[None]
    whole = hits_table(hits, 40)
    lacking = whole.filter(~((pl.col("loss") == "l2") & (pl.col("class_id") == 5)))
    two = class_variance([lacking], group=["block"], member=["loss"])

    assert two == found(hits[:, :2], 40)
    assert found(hits[:, :, :1], 40) is None
    assert class_variance([whole.clear()], group=["block"], member=["loss"]) is None


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
