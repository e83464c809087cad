import polars as pl
import pytest
from scipy import stats

from podium.analysis.hypothesis_tests.corrected_resampled_t import corrected_resampled_t
from podium.analysis.scores.final_scores import final_scores, final_trials
from podium.analysis.scores.fold_tables import (
    cross_validation_pairs,
    cross_validation_table,
    fold_table,
)
from podium.errors import PodiumError
from tests.analysis.store_frames import QUERIES, Store


def folds_of(store, k=1):
    finals = final_trials(store.trials)
    return fold_table(finals, final_scores(finals, store.test_scores), k)


def kfold_store(hits_by_loss):
    """{loss: hits by fold}, one seed; validation falls as test rises."""
    hits_by_loss = {loss: list(hits) for loss, hits in hits_by_loss.items()}
    store = Store(protocol="kfold", num_folds=max(len(h) for h in hits_by_loss.values()))
    for loss, hits in hits_by_loss.items():
        for fold, found in enumerate(hits):
            val = None if found is None else 1 - found / QUERIES
            store.final(16, loss, "x", found, winner=True, fold=fold, val=val)
    return store


def test_a_cell_tells_mean_and_deviation_over_folds():
    (row,) = cross_validation_table(folds_of(kfold_store({"a": [100, 110, 126]}))).to_dicts()
    values = pl.Series([0.5, 0.55, 0.63])
    assert row["test_mean"] == pytest.approx(values.mean())
    assert row["test_std"] == pytest.approx(values.std(ddof=1))
    assert row["val_mean"] == pytest.approx(1 - values.mean())
    assert row["val_std"] == pytest.approx(values.std(ddof=1))
    assert row["tau"] == -1
    assert (row["num_folds"], row["num_missing"], row["num_seeds"]) == (3, 0, 1)


def test_two_folds_always_agree_or_not_so_they_have_no_tau():
    (row,) = cross_validation_table(folds_of(kfold_store({"a": [100, 110]}))).to_dicts()
    assert (row["num_folds"], row["tau"]) == (2, None)


# Psomas 2020, table 13: best validation and test Recall@1 of ten folds, Multi-Similarity on CUB.
TABLE_13 = {
    "val": (94.07, 94.39, 99.15, 98.21, 97.63, 98.49, 99.0, 99.5, 99.5, 97.92),
    "test": (64.25, 63.67, 63.6, 63.76, 64.28, 64.24, 63.35, 63.33, 63.23, 62.34),
}


def test_table_12_of_the_thesis_follows_from_its_table_13():
    store = Store(protocol="kfold", num_folds=10)
    for fold, (val, test) in enumerate(zip(*TABLE_13.values(), strict=True)):
        store.final(16, "a", "x", test / 100 * QUERIES, winner=True, fold=fold, val=val / 100)
    (row,) = cross_validation_table(folds_of(store)).to_dicts()
    tests = TABLE_13["test"]
    mean = sum(tests) / 10
    std = (sum((test - mean) ** 2 for test in tests) / 9) ** 0.5
    assert 100 * row["test_mean"] == pytest.approx(mean) == pytest.approx(63.605)
    assert 100 * row["test_std"] == pytest.approx(std) == pytest.approx(0.5949, abs=5e-5)
    assert row["tau"] == pytest.approx(stats.kendalltau(*TABLE_13.values()).statistic)


def test_a_fold_has_the_epoch_of_its_scores_a_mean_over_seeds():
    store = Store(protocol="kfold", num_folds=2)
    for seed, fold, epoch in [(0, 0, 3), (1, 0, 6), (0, 1, 2), (1, 1, 2)]:
        place = {"seed": seed, "fold": fold, "epoch": epoch}
        store.final(16, "a", "x", 100, winner=True, val=0.5, **place)
    assert folds_of(store).select("fold", "epoch").rows() == [(0, 4.5), (1, 2.0)]


def test_folds_that_all_failed_are_no_cross_validation_yet():
    with pytest.raises(PodiumError, match="no fold of the final stage has a test score yet"):
        folds_of(kfold_store({"a": [None, None]}))


def test_seeds_are_averaged_within_a_fold_and_never_counted_as_folds():
    store = Store(protocol="kfold", num_folds=2)
    for seed, fold, hits in [(0, 0, 100), (1, 0, 110), (0, 1, 120), (1, 1, 140)]:
        store.final(16, "a", "x", hits, winner=True, seed=seed, fold=fold, val=0.5)
    (row,) = cross_validation_table(folds_of(store)).to_dicts()
    assert row["test_std"] == pytest.approx(pl.Series([0.525, 0.65]).std(ddof=1))
    assert (row["num_folds"], row["num_seeds"]) == (2, 2)
    assert row["tau"] is None


def test_repeats_with_splits_of_their_own_have_folds_of_their_own():
    hits = {(0, 0): 100, (0, 1): 110, (1, 0): 126, (1, 1): 130}
    rows = {}
    for fresh in (False, True):
        store = Store(protocol="kfold", num_folds=2, fresh_splits=fresh)
        for loss, gap in (("a", 0), ("b", 10)):
            for (repeat, fold), found in hits.items():
                place = {"fold": fold, "repeat": repeat}
                store.final(16, loss, "x", found + gap * fold, winner=True, val=0.5, **place)
        folds = folds_of(store)
        rows[fresh] = cross_validation_table(folds).row(0, named=True)
        pairs = cross_validation_pairs(folds)
    values = pl.Series([h / QUERIES for h in hits.values()])
    assert rows[True]["test_std"] == pytest.approx(values.std(ddof=1))
    assert (rows[True]["num_folds"], rows[True]["num_missing"], rows[True]["num_seeds"]) == (
        4,
        0,
        1,
    )
    assert (rows[False]["num_folds"], rows[False]["num_seeds"]) == (2, 2)
    _, p_value = corrected_resampled_t(
        [h / QUERIES for h in hits.values()],
        [(h + 10 * fold) / QUERIES for (_, fold), h in hits.items()],
        held_out_ratio=1 / (2 - 1),
    )
    assert pairs["p_value"].item() == pytest.approx(p_value)


def test_pairs_are_tested_over_their_common_folds():
    store = kfold_store({"a": [100, 110, 126, 130], "b": [90, 108, 120, 110]})
    (pair,) = cross_validation_pairs(folds_of(store)).to_dicts()
    expected, p_value = corrected_resampled_t(
        [h / QUERIES for h in (100, 110, 126, 130)],
        [h / QUERIES for h in (90, 108, 120, 110)],
        held_out_ratio=1 / 3,
    )
    assert (pair["a"], pair["b"]) == ("a", "b")
    assert pair["mean_difference"] == pytest.approx(38 / 4 / QUERIES)
    assert pair["p_value"] == pytest.approx(p_value)
    assert pair["p_holm"] == pair["p_value"]
    assert (pair["low"], pair["high"]) == pytest.approx((expected.low, expected.high))


def test_holm_runs_over_the_pairs_of_a_block():
    store = kfold_store({"a": [100, 110, 126], "b": [90, 108, 121], "c": [50, 61, 70]})
    pairs = cross_validation_pairs(folds_of(store))
    expected = sorted(pairs["p_value"])[0] * 3
    assert pairs["p_holm"].min() == pytest.approx(expected)


def test_a_pair_whose_folds_do_not_match_is_refused():
    store = kfold_store({"a": [100, 110, 126], "b": [90, None, 120], "c": [80, 90, 101]})
    pairs = {(p["a"], p["b"]): p for p in cross_validation_pairs(folds_of(store)).to_dicts()}
    assert pairs["a", "b"]["p_value"] is None
    assert pairs["a", "b"]["p_holm"] is None
    plain = stats.ttest_rel([100, 110, 126], [80, 90, 101]).statistic
    corrected = plain * ((1 / 3) / (1 / 3 + 1 / 2)) ** 0.5
    assert pairs["a", "c"]["p_value"] == pytest.approx(2 * stats.t.sf(corrected, 2))


def test_a_study_without_folds_is_refused():
    store = Store()
    store.final(16, "a", "x", 100, winner=True)
    with pytest.raises(PodiumError, match=r"needs a final stage of several folds.*holds fixed"):
        folds_of(store)


def test_repeated_folds_hold_out_a_part_of_one_repetition():
    hits = {"a": [100, 110, 126, 130], "b": [90, 108, 120, 110]}
    store = Store(
        protocol="repeated_kfold", num_folds=4, settings='{"protocol": {"folds": 2, "repeats": 2}}'
    )
    for loss, found in hits.items():
        for fold, number in enumerate(found):
            store.final(16, loss, "x", number, winner=True, fold=fold, val=0.5)
    (pair,) = cross_validation_pairs(folds_of(store)).to_dicts()
    _, p_value = corrected_resampled_t(
        *([number / QUERIES for number in hits[loss]] for loss in "ab"), held_out_ratio=1 / 1
    )
    assert pair["p_value"] == pytest.approx(p_value)
    (row, _) = cross_validation_table(folds_of(store)).to_dicts()
    assert (row["num_folds"], row["num_missing"]) == (4, 0)
