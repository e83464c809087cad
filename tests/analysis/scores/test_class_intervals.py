import numpy as np
import polars as pl
import pytest

from podium.analysis.estimates.confidence_intervals import class_bootstrap
from podium.analysis.scores.class_intervals import class_intervals
from podium.analysis.scores.final_scores import final_trials
from tests.analysis.store_frames import Store


def class_hits(trial_id, hits, k=1):
    return [
        {"trial_id": trial_id, "k": k, "class_id": c, "queries": 10, "hits": h}
        for c, h in enumerate(hits)
    ]


def test_hits_are_summed_over_seeds_before_classes_are_resampled():
    store = Store()
    for seed in range(2):
        store.final(16, "a", "x", 100, winner=True, seed=seed)
    first, second = (row["trial_id"] for row in store.rows)
    frame = pl.LazyFrame(
        class_hits(first, [9, 5, 7])
        + class_hits(second, [7, 6, 3])
        + class_hits(first, [10, 10, 10], k=2)
    )
    (row,) = class_intervals(final_trials(store.trials), frame, 1).to_dicts()
    expected = class_bootstrap(np.array([16, 11, 10]), np.array([20, 20, 20]))
    assert row["recall"] == pytest.approx(37 / 60)
    assert (row["low"], row["high"]) == (expected.low, expected.high)
    assert row["standard_error"] == expected.standard_error
    assert row["num_classes"] == 3


def test_no_counts_give_no_rows():
    store = Store()
    store.final(16, "a", "x", 100, winner=True)
    frame = pl.LazyFrame(class_hits("elsewhere", [1, 2]))
    assert class_intervals(final_trials(store.trials), frame, 1).is_empty()
