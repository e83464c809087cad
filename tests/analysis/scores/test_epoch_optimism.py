"""How much a fold's own best epoch flatters its score, against loops over single scores."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.analysis.scores.epoch_optimism import epoch_optimism, gaps_to_epoch_of_others
from podium.analysis.scores.final_scores import final_trials
from tests.analysis.store_frames import Store


def slow_gaps(choosing, scores):
    """{fold: gap} by loops; ``choosing`` and ``scores`` are lists of epochs of lists of folds."""
    gaps = []
    for fold in range(len(scores[0])):
        own = others = 0
        for epoch in range(1, len(scores)):
            if choosing[epoch][fold] > choosing[own][fold]:
                own = epoch
            if sum_without(choosing[epoch], fold) > sum_without(choosing[others], fold):
                others = epoch
        gaps.append(scores[own][fold] - scores[others][fold])
    return gaps


def sum_without(values, fold):
    return sum(value for index, value in enumerate(values) if index != fold)


@given(st.integers(2, 6), st.integers(2, 7), st.integers(0, 2**32 - 1))
def test_gaps_equal_loops_over_folds_and_epochs(num_folds, num_epochs, seed):
    # Quarters are exact in floats, so that ties are ties.
    draw = np.random.default_rng(seed).integers(0, 9, (2, num_epochs, num_folds)) / 4
    assert gaps_to_epoch_of_others(*draw).tolist() == slow_gaps(*draw.tolist())


def kfold_finals(num_folds, *, num_parts=None):
    kind = "repeated_kfold" if num_parts else "kfold"
    settings = json.dumps({"protocol": {"folds": num_parts or num_folds}})
    store = Store(protocol=kind, num_folds=num_folds, settings=settings)
    for fold in range(num_folds):
        store.final(16, "a", "x", 100, winner=True, fold=fold, val=0.5)
    return final_trials(store.trials)


def scores_of(finals, curves_by_k):
    """``curves_by_k``: K -> the curve of each fold, from epoch 1 on."""
    rows = [
        {
            "trial_id": trial_id,
            "role": "val",
            "metric": "recall",
            "k": k,
            "epoch": epoch,
            "value": v,
        }
        for k, curves in curves_by_k.items()
        for trial_id, fold in finals.select("trial_id", "fold").rows()
        for epoch, v in enumerate(curves[fold], start=1)
    ]
    return pl.LazyFrame(rows, schema_overrides={"value": pl.Float64})


def optimism_of(finals, curves_by_k, k=1):
    found = epoch_optimism(
        finals, scores_of(finals, curves_by_k), metric="recall", k=k, primary_k=1
    )
    return found["epoch_optimism"][0], found["no_epoch_optimism"][0]


def test_a_cell_is_the_mean_over_folds():
    # The others' means choose epochs 3, 3 and 2.
    curves = [[0.8, 0.5, 0.6], [0.1, 0.7, 0.5], [0.2, 0.6, 0.9]]
    optimism, why_not = optimism_of(kfold_finals(3), {1: curves})
    assert optimism == pytest.approx(np.mean([0.8 - 0.6, 0.7 - 0.5, 0.9 - 0.6]))
    assert why_not is None


def test_epochs_are_chosen_at_the_primary_k_and_compared_at_the_other():
    first = [[0.8, 0.5], [0.1, 0.7]]
    second = [[0.9, 0.6], [0.3, 0.9]]
    optimism, _ = optimism_of(kfold_finals(2), {1: first, 2: second}, k=2)
    assert optimism == pytest.approx(np.mean([0.9 - 0.6, 0.9 - 0.3]))


def test_folds_of_another_repetition_choose_nothing():
    # They would agree with each fold's own epoch; the fold of the same repetition does not.
    curves = [[0.8, 0.5], [0.1, 0.7], [0.8, 0.5], [0.1, 0.7]]
    optimism, _ = optimism_of(kfold_finals(4, num_parts=2), {1: curves})
    assert optimism == pytest.approx(np.mean([0.3, 0.6]))


def test_epochs_that_a_fold_lacks_are_not_chosen():
    optimism, _ = optimism_of(kfold_finals(2), {1: [[0.8, 0.5, 0.99], [0.1, 0.7]]})
    assert optimism == pytest.approx(np.mean([0.3, 0.6]))


@pytest.mark.parametrize(
    ("curves", "reason"),
    [
        ([[0.8], [0.7]], "validation scores are of one epoch"),
        ([[0.8, 0.9], []], "one fold has validation scores"),
        ([[0.8, 0.9], [None, float("nan")]], "one fold has validation scores"),
        ([[None], []], "no validation scores by epoch are stored"),
    ],
)
def test_without_several_folds_and_epochs_nothing_is_known_and_the_reason_said(curves, reason):
    assert optimism_of(kfold_finals(2), {1: curves}) == (None, reason)
