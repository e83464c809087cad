import polars as pl
import pytest
from scipy import stats

from podium.analysis.estimates.confidence_intervals import t_interval
from podium.analysis.protocols.tuning_gains import overall_selection, selection_table
from podium.analysis.scores.final_scores import final_scores, final_trials
from tests.analysis.store_frames import QUERIES, Store


def selection_table_of(store, k=1):
    finals = final_trials(store.trials)
    return selection_table(store.trials, finals, final_scores(finals, store.test_scores), k)


def tuned(store, dim, loss, default_hits, winner_hits, *, val_default=0.5, val_winner=0.6):
    store.search(dim, loss, "published", val_default, default=True)
    store.search(dim, loss, "other", 0.1)
    store.search(dim, loss, "tuned", val_winner)
    for seed, (old, new) in enumerate(zip(default_hits, winner_hits, strict=True)):
        store.final(dim, loss, "published", old, default=True, seed=seed)
        store.final(dim, loss, "tuned", new, winner=True, seed=seed)


def test_a_row_goes_from_default_over_tuned_to_test():
    store = Store()
    tuned(store, 16, "a", [100, 104, 110], [120, 118, 132])
    store.baseline(16, 60)
    store.features(80)
    (row,) = selection_table_of(store).to_dicts()
    assert (row["block"], row["loss"]) == ("glyphs/net/16", "a")
    assert (row["val_default"], row["val_winner"]) == (0.5, 0.6)
    assert row["test_default"] == pytest.approx((100 + 104 + 110) / 3 / QUERIES)
    assert row["test_winner"] == pytest.approx((120 + 118 + 132) / 3 / QUERIES)
    assert row["test_untrained"] == pytest.approx(0.3)
    assert (row["test_features"], row["baseline"]) == (0.4, "features")
    assert row["above_baseline"] == pytest.approx(row["test_winner"] - 0.4)
    assert (row["default_state"], row["kept_default"]) == ("COMPLETE", False)


def test_the_gain_is_paired_by_seed():
    store = Store()
    tuned(store, 16, "a", [100, 104, 110], [120, 118, 132])
    (row,) = selection_table_of(store).to_dicts()
    expected = t_interval([20 / QUERIES, 14 / QUERIES, 22 / QUERIES])
    assert row["gain"] == pytest.approx(expected.estimate)
    assert (row["gain_low"], row["gain_high"]) == pytest.approx((expected.low, expected.high))
    assert row["num_seeds"] == 3


def test_a_seed_that_failed_on_one_side_is_not_paired():
    store = Store()
    tuned(store, 16, "a", [100, None, 110], [120, 190, 132])
    (row,) = selection_table_of(store).to_dicts()
    assert row["gain"] == pytest.approx((20 + 22) / 2 / QUERIES)
    assert row["num_seeds"] == 2


def test_folds_are_averaged_before_seeds_are_compared():
    store = Store(protocol="kfold", num_folds=2)
    for seed, fold, old, new in [(0, 0, 100, 110), (0, 1, 100, 130), (1, 0, 90, 100)]:
        store.final(16, "a", "published", old, default=True, seed=seed, fold=fold)
        store.final(16, "a", "tuned", new, winner=True, seed=seed, fold=fold)
    (row,) = selection_table_of(store).to_dicts()
    expected = t_interval([20 / QUERIES, 10 / QUERIES])
    assert row["gain"] == pytest.approx(expected.estimate)
    assert row["gain_high"] == pytest.approx(expected.high)


def test_one_seed_gives_a_gain_without_interval():
    store = Store()
    tuned(store, 16, "a", [100], [120])
    (row,) = selection_table_of(store).to_dicts()
    assert row["gain"] == pytest.approx(0.1)
    assert (row["gain_low"], row["gain_high"]) == (None, None)


def test_a_search_that_keeps_the_default_gains_nothing():
    store = Store()
    store.search(16, "a", "published", 0.5, default=True)
    for seed, hits in enumerate([100, 104]):
        store.final(16, "a", "published", hits, default=True, winner=True, seed=seed)
    (row,) = selection_table_of(store).to_dicts()
    assert (row["gain"], row["gain_low"], row["kept_default"]) == (0, None, True)
    assert row["val_default"] == row["val_winner"] == 0.5


def test_a_pruned_default_is_marked():
    store = Store()
    tuned(store, 16, "a", [100], [120])
    store.change(0, state="PRUNED")
    assert selection_table_of(store)["default_state"].to_list() == ["PRUNED"]


def selection_of_datasets(num_datasets):
    """Two blocks of each data set, whose gains differ by data set and by embedding dimension."""
    blocks = [(f"d{number}", dim) for number in range(num_datasets) for dim in (16, 32)]
    gains = [0.01 * (number % 4) + dim / 1000 for number, (_, dim) in enumerate(blocks)]
    return pl.DataFrame(
        {
            "block": [f"{dataset}/net/{dim}" for dataset, dim in blocks],
            "dataset": [dataset for dataset, _ in blocks],
            "backbone": "net",
            "loss": "a",
            "protocol": "fixed",
            "val_default": 0.5,
            "val_winner": 0.75,
            "kept_default": False,
            "gain": gains,
            "above_baseline": [gain + 0.1 for gain in gains],
        }
    )


def test_mean_gains_have_intervals_over_data_sets_not_over_blocks():
    selection = selection_of_datasets(6)
    (row,) = overall_selection(selection).to_dicts()
    means = selection.group_by("dataset").agg(pl.col("gain", "above_baseline").mean())
    for name in ("gain", "above_baseline"):
        expected = stats.ttest_1samp(means[name], 0).confidence_interval(0.95)
        assert row[name] == pytest.approx(means[name].mean())
        assert (row[f"{name}_low"], row[f"{name}_high"]) == pytest.approx(tuple(expected))
    assert (row["num_blocks"], row["num_kept_default"]) == (12, 0)
    assert row["val_gain"] == pytest.approx(0.25)


def test_too_few_data_sets_for_a_test_give_mean_gains_without_intervals():
    (row,) = overall_selection(selection_of_datasets(5)).to_dicts()
    assert row["gain"] is not None
    assert (row["gain_low"], row["gain_high"]) == (None, None)


def test_without_a_baseline_nothing_is_above_it():
    store = Store()
    tuned(store, 16, "a", [100], [120])
    (row,) = overall_selection(selection_table_of(store)).to_dicts()
    assert (row["above_baseline"], row["above_baseline_low"]) == (None, None)


def test_repeats_of_a_search_are_averaged():
    store = Store()
    for repeat, value in enumerate([0.6, 0.8]):
        store.search(16, "a", "published", 0.5, default=True, repeat=repeat)
        store.search(16, "a", f"tuned{repeat}", value, repeat=repeat)
        store.final(16, "a", "published", 100, default=True, repeat=repeat)
        store.final(16, "a", f"tuned{repeat}", 100 + 20 * repeat, winner=True, repeat=repeat)
    (row,) = selection_table_of(store).to_dicts()
    assert row["val_winner"] == pytest.approx(0.7)
    assert row["gain"] == pytest.approx(0.05)
    assert row["num_seeds"] == 2


def test_several_repeats_are_the_pieces_of_the_interval():
    store = Store()
    gains = {0: [20, 14], 1: [4, 6], 2: [9, 1]}
    for repeat, pair in gains.items():
        for seed, gain in enumerate(pair):
            store.final(16, "a", "published", 100, default=True, seed=seed, repeat=repeat)
            store.final(16, "a", "tuned", 100 + gain, winner=True, seed=seed, repeat=repeat)
    (row,) = selection_table_of(store).to_dicts()
    expected = t_interval([sum(pair) / 2 / QUERIES for pair in gains.values()])
    assert row["gain"] == pytest.approx(expected.estimate)
    assert (row["gain_low"], row["gain_high"]) == pytest.approx((expected.low, expected.high))
    assert row["num_seeds"] == 6


def test_nothing_tested_yet_gives_an_empty_table():
    store = Store()
    store.search(16, "a", "published", 0.5, default=True)
    assert selection_table_of(store).is_empty()
    assert overall_selection(selection_table_of(store)).is_empty()
    assert isinstance(selection_table_of(store), pl.DataFrame)
