import polars as pl
import pytest

from podium.analysis.scores.final_scores import (
    cells,
    final_scores,
    final_trials,
    seed_scores,
)
from podium.errors import PodiumError
from tests.analysis.store_frames import QUERIES, Store


def loaded(store):
    finals = final_trials(store.trials)
    return finals, final_scores(finals, store.test_scores)


def cell(store, *, k=1, **wanted):
    finals, scores = loaded(store)
    found = cells(finals, scores).filter(pl.col("k") == k, **wanted).to_dicts()
    assert len(found) == 1
    return found[0]


def one_loss(hits, **place):
    store = Store()
    for seed, found in enumerate(hits):
        store.final(16, "a", "x", found, winner=True, seed=seed, **place)
    return store


def test_seeds_are_averaged_within_a_cell():
    found = cell(one_loss([100, 110, 126]), loss="a")
    assert found["score"] == (100 + 110 + 126) / (3 * QUERIES)
    assert found["seed_std"] == pytest.approx(pl.Series([0.5, 0.55, 0.63]).std(ddof=1))
    assert (found["num_seeds"], found["num_trials"], found["num_failed"]) == (3, 3, 0)
    assert (found["hits"], found["queries"]) == (336, 600)


def test_one_seed_has_no_deviation_not_one_of_zero():
    assert cell(one_loss([100]))["seed_std"] is None


def test_the_deviation_over_seeds_is_that_of_their_fold_means():
    store = Store(protocol="kfold", num_folds=2)
    for seed, fold, hits in [(0, 0, 100), (0, 1, 120), (1, 0, 130), (1, 1, 110)]:
        store.final(16, "a", "x", hits, winner=True, seed=seed, fold=fold)
    found = cell(store, loss="a")
    assert found["seed_std"] == pytest.approx(pl.Series([0.55, 0.6]).std(ddof=1))
    assert (found["num_seeds"], found["num_folds"]) == (2, 2)


def test_every_k_has_its_own_cell():
    store = one_loss([100])
    assert cell(store, k=2)["score"] == 110 / QUERIES


def test_a_winner_that_is_the_default_is_both_finalists():
    store = Store()
    store.final(16, "a", "x", 100, winner=True, default=True)
    finalists = cells(*loaded(store))["finalist"].unique().sort().to_list()
    assert finalists == ["default", "winner"]


def test_the_untrained_embedding_is_its_own_finalist():
    store = one_loss([100])
    store.baseline(16, 40)
    found = cell(store, finalist="untrained")
    assert (found["loss"], found["score"]) == ("untrained", 0.2)


def test_features_are_a_finalist_of_the_blocks_of_every_dimension():
    store = one_loss([100])
    store.final(32, "a", "x", 120, winner=True)
    store.features(90)
    found = cells(*loaded(store)).filter(finalist="features", k=1)
    assert found.select("block", "embedding_dim", "score", "num_trials").rows() == [
        ("glyphs/net/16", 16, 0.45, 1),
        ("glyphs/net/32", 32, 0.45, 1),
    ]


def test_search_trials_are_no_finalists():
    store = one_loss([100])
    store.search(16, "a", "x", 0.7, default=True)
    assert set(cells(*loaded(store))["finalist"]) == {"winner"}


def test_a_failed_run_is_counted_and_not_averaged():
    found = cell(one_loss([100, None, 120]))
    assert found["score"] == 220 / 400
    assert (found["num_trials"], found["num_failed"], found["num_seeds"]) == (2, 1, 2)


def test_a_cell_in_which_every_run_failed_has_no_score():
    store = one_loss([None, None])
    store.final(16, "b", "x", 100, winner=True)
    found = cell(store, loss="a")
    assert (found["score"], found["num_seeds"], found["num_failed"]) == (None, 0, 2)


def test_a_nan_score_is_a_missing_score():
    store = one_loss([100, 120])
    store.scores[0].update(value=float("nan"), hits=None)
    assert cell(store)["score"] == 0.6


def test_equal_hits_tie_exactly_whatever_the_order_of_summing():
    first, second = one_loss([61, 62, 64]), one_loss([64, 61, 62])
    assert cell(first)["score"] == cell(second)["score"]


def test_unknown_hits_fall_back_to_the_mean_score():
    store = one_loss([100, 120])
    for score in store.scores:
        score["hits"] = None
    found = cell(store)
    assert found["score"] == pytest.approx(0.55)
    assert found["hits"] is None


def test_seed_scores_average_folds_only():
    store = Store(protocol="kfold", num_folds=2)
    for seed, fold, hits in [(0, 0, 100), (0, 1, 120), (1, 0, 130)]:
        store.final(16, "a", "x", hits, winner=True, seed=seed, fold=fold)
    found = seed_scores(loaded(store)[1]).filter(pl.col("k") == 1)
    assert found.select("seed_index", "score").rows() == [(0, 0.55), (1, 0.65)]


def test_losses_on_different_test_sets_are_refused():
    store = one_loss([100])
    store.final(16, "b", "x", 100, winner=True)
    store.change(1, test_hash="other-test-hash")
    message = r"glyphs/net/16 mixes test sets \(test_hash other-te with b; test-has with a\)"
    with pytest.raises(PodiumError, match=message):
        final_trials(store.trials)


def test_losses_under_different_protocols_are_refused():
    store = one_loss([100])
    store.final(16, "b", "x", 100, winner=True)
    store.change(1, protocol_hash="another")
    with pytest.raises(PodiumError, match="glyphs/net/16 with protocol fixed mixes protocols"):
        final_trials(store.trials)


def test_blocks_may_have_different_test_sets():
    store = one_loss([100])
    store.final(32, "a", "x", 100, winner=True)
    store.change(1, test_hash="other", protocol_hash="another")
    final_trials(store.trials)
