"""Which configs count, in which space, and what becomes of the others."""

import math

import numpy as np
import polars as pl
import pytest

from podium.analysis.hyperparameters.search_configs import configs_on_test, search_configs
from podium.analysis.hyperparameters.searched_ranges import SearchedRange, searched_ranges

RATE = SearchedRange(low=1e-4, high=1e-2, log=True)
KIND = SearchedRange(low=0, high=1, values=("hard", "soft"))
REAL = {"kind": "real", "low": 0.0, "high": 1.0, "log": False, "step": None, "unit": ""}
SPACES = {"spaces": {"a": [{"blocks": ["x"], "parameters": {"margin": REAL}}]}}


def trials(margins, scores, states=None, **columns):
    num = len(margins)
    return pl.DataFrame(
        {
            "trial_id": [f"t{index}" for index in range(num)],
            "search": ["s"] * num,
            "stage": ["search"] * num,
            "loss": ["a"] * num,
            "block": ["x"] * num,
            "protocol": ["fixed"] * num,
            "repeat": [0] * num,
            "index": list(range(num)),
            "is_default": [False] * num,
            "state": states or ["COMPLETE"] * num,
            "objective": scores,
            "hp.margin": margins,
            **columns,
        }
    )


def test_positions_are_even_on_the_scale_that_was_drawn_on():
    assert RATE.positions([1e-4, 1e-3, 1e-2]) == pytest.approx([0, 0.5, 1])
    assert RATE.value_at(0.25) == pytest.approx(10**-3.5)
    assert SearchedRange(low=-2, high=2).positions([-2, 0, 3, None])[:3] == pytest.approx(
        [0, 0.5, 1.25]
    )
    assert KIND.positions(["soft", "hard", "other"]).tolist() == [1, 0, -1]
    assert math.isnan(KIND.positions([None])[0])


def test_values_of_a_choice_are_known_however_they_were_stored():
    sizes = searched_ranges(
        {
            "spaces": {
                "a": [{"blocks": ["x"], "parameters": {"k": {"kind": "choice", "values": [4, 8]}}}]
            }
        },
        "a",
        "x",
    )["k"]
    assert sizes.positions([8.0, 4]).tolist() == [1, 0]
    flags = SearchedRange(low=0, high=1, values=("False", "True"))
    assert flags.positions([True]).tolist() == [1]


def test_outside_of_the_range_is_recognised_and_absent_is_not_outside():
    assert RATE.is_within(RATE.positions([5e-5, 1e-4, 0.1, None])).tolist() == [
        False,
        True,
        False,
        True,
    ]
    assert KIND.is_within(KIND.positions(["other", "soft"])).tolist() == [False, True]


def test_only_complete_configs_with_a_score_inside_of_the_space_count():
    frame = trials(
        [0.1, 0.2, 0.3, 0.4, 1.5, 0.6],
        [0.5, None, 0.7, 0.8, 0.9, float("nan")],
        ["COMPLETE", "FAILED", "PRUNED", "COMPLETE", "COMPLETE", "COMPLETE"],
    )
    (found,) = search_configs(frame, provenance=SPACES)
    assert found.scores_N.tolist() == [0.5, 0.8]
    assert found.positions["margin"] == pytest.approx([0.1, 0.4])
    assert (found.num_trials, found.num_pruned, found.num_failed, found.num_outside) == (
        6,
        1,
        1,
        1,
    )


def test_the_order_of_rows_does_not_matter():
    frame = trials([0.1, 0.2, 0.3], [0.1, 0.2, 0.3])
    (found,) = search_configs(frame, provenance=SPACES)
    (shuffled,) = search_configs(frame[[2, 0, 1]], provenance=SPACES)
    assert (found.scores_N == shuffled.scores_N).all()
    assert (found.positions["margin"] == shuffled.positions["margin"]).all()


def test_test_scores_are_means_over_folds_and_missing_ones_stay_missing():
    scores = pl.LazyFrame(
        {
            "trial_id": ["t0", "t0", "t1", "t2", "t2"],
            "stage": ["search", "search", "search", "final", "search"],
            "fold": [0, 1, 0, 0, 0],
            "metric": ["recall", "recall", "recall", "recall", "ndcg"],
            "k": [1, 1, 1, 1, 1],
            "value": [0.2, 0.4, float("nan"), 0.9, 0.9],
        }
    )
    tested = configs_on_test(scores, metric="recall", k=1)
    (found,) = search_configs(
        trials([0.1, 0.2, 0.3], [0.1, 0.2, 0.3]), provenance=SPACES, tested=tested
    )
    assert found.test_N[0] == pytest.approx(0.3)
    assert np.isnan(found.test_N[1:]).all()
