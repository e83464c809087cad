"""Estimates of the time that is left, against studies simulated in made-up time."""

import pytest

from benchmarks.simulated_time import ratio_at
from benchmarks.time_left import simulated
from orchestrator.scheduling.expected_epochs import ExpectedEpochs, epochs_by_index
from orchestrator.scheduling.trial_seconds import TrialKind, TrialSeconds
from orchestrator.study.study import Block, EarlyStopping

FACTOR = 1.5
# Of `SIMULATED`; `python -m benchmarks.time_left` has the others, which take longer.
QUICK = (
    "few long trials, 8 slots",
    "quick trials with a slow start, 2 slots",
    "unequal trials, stopped and continued",
    "heads together, 2 slots",
)
BLOCK, OTHER = (
    Block(dataset="glyphs", backbone="conv_small", embedding_dim=dim) for dim in (8, 16)
)


@pytest.mark.parametrize("name", QUICK)
def test_at_a_tenth_of_a_run_the_estimate_is_within_a_factor_of_the_truth(name, tmp_path):
    run = simulated(name, tmp_path)
    for part in (0.1, 0.25, 0.5):
        assert 1 / FACTOR < ratio_at(run, part) < FACTOR
    when, left = run.estimates[0]
    assert 0.5 < left / (run.now - when) < 2


def test_what_is_not_known_of_a_block_and_loss_is_taken_from_the_most_similar():
    costs = TrialSeconds()
    costs.learn_epochs(TrialKind("search", BLOCK, "triplet"), 2, 8.0)
    costs.learn_epochs(TrialKind("search", OTHER, "triplet"), 1, 10.0)
    known, new = TrialKind("search", BLOCK, "triplet"), TrialKind("search", BLOCK, "contrastive")
    elsewhere = Block(dataset="glyphs", backbone="conv_small", embedding_dim=32)
    assert costs.of_epochs(known, 3) == pytest.approx(12)
    assert costs.of_epochs(new, 3) == pytest.approx(12)
    assert costs.of_epochs(TrialKind("search", elsewhere, "triplet"), 1) == pytest.approx(7)


def test_finals_cost_what_finals_cost_once_one_has_ended():
    costs = TrialSeconds()
    search, final = (TrialKind(stage, BLOCK, "triplet") for stage in ("search", "part"))
    costs.learn_epochs(search, 1, 4.0)
    costs.learn_around(search, 3.0)
    assert (costs.of_epochs(final, 1), costs.around(final)) == pytest.approx((4, 3 + 4))
    costs.learn_epochs(final, 10, 60.0)
    costs.learn_around(final, 9.0)
    assert (costs.of_epochs(final, 1), costs.around(final)) == pytest.approx((6, 9))
    assert costs.of_epochs(search, 1) == pytest.approx(4)


def test_finals_of_a_loss_whose_epochs_take_no_time_cost_nothing():
    costs = TrialSeconds()
    for stage in ("search", "part"):
        costs.learn_epochs(TrialKind(stage, BLOCK, "triplet"), 1, 0.0)
    assert costs.of_epochs(TrialKind("part", BLOCK, "triplet"), 5) == 0.0


def test_later_trials_of_a_search_are_expected_to_be_stopped_earlier():
    asha = EarlyStopping(kind="asha", grace_epochs=1, reduction_factor=3)
    expected = ExpectedEpochs(epochs_by_index(asha, epochs=9, folds=1))
    assert expected.of(0) == expected.whole == 9  # the default is never stopped
    assert expected.of_rest(1, 20) / 19 < 5
    assert expected.of_rest(0, 3) == pytest.approx(sum(expected.of(i) for i in range(3)))
    assert expected.left(5, 3) > expected.left(5, 8) == 1
    none = ExpectedEpochs(epochs_by_index(EarlyStopping(kind="none"), epochs=9, folds=2))
    assert none.of_rest(0, 10) == 180
