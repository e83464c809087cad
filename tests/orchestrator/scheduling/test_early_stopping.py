import itertools
import random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.orchestrator.scheduling.early_stopping import EarlyStopper, rung_steps
from podium.orchestrator.study.study import EarlyStopping, Stopping

KINDS = ("asha", "folds")
ASHA = EarlyStopping(kind="asha", grace_epochs=1, reduction_factor=3)
FOLDS = EarlyStopping(kind="folds", reduction_factor=3)

rules = st.builds(
    EarlyStopping,
    kind=st.sampled_from(get_args(Stopping)),
    grace_epochs=st.integers(1, 5),
    reduction_factor=st.integers(2, 4),
)


# Where rungs lie.


def test_rungs_lie_at_powers_of_the_reduction_factor():
    assert rung_steps(ASHA, epochs=28, folds=1) == (1, 3, 9, 27)


def test_no_rung_lies_where_training_ends():
    assert rung_steps(ASHA, epochs=27, folds=1) == (1, 3, 9)
    assert rung_steps(FOLDS, epochs=8, folds=9) == (8, 24)
    assert rung_steps(ASHA, epochs=9, folds=2) == (1, 3, 9)  # after the first fold


def test_rungs_of_several_folds_lie_in_the_first_and_after_finished_ones():
    assert rung_steps(ASHA, epochs=8, folds=10) == (1, 3, 8, 24, 72)
    assert rung_steps(FOLDS, epochs=8, folds=10) == (8, 24, 72)


@given(rules, st.integers(1, 30), st.integers(1, 12))
def test_every_rung_compares_trials_that_trained_alike_and_have_something_left(
    stopping, epochs, folds
):
    steps = rung_steps(stopping, epochs=epochs, folds=folds)
    assert all(one < other for one, other in itertools.pairwise((0, *steps, epochs * folds)))
    inside = [step for step in steps if step % epochs]
    assert all(stopping.grace_epochs <= step < epochs for step in inside)
    assert stopping.kind == "asha" or not inside


# Who goes on.


@pytest.mark.parametrize("kind", KINDS)
def test_a_deterministic_race_does_not_depend_on_who_arrives_first(kind):
    generator = random.Random(0)
    scores = {index: generator.random() for index in range(1, 40)}
    lag = 4

    def decisions(order):
        # A trial can only start once everything it is compared with has ended, so every order in
        # which `lag` neighbours are shuffled is possible.
        raced = EarlyStopper(EarlyStopping(kind=kind), epochs=4, folds=2)
        return {index: raced.continues(index, 4, scores[index], index - lag) for index in order}

    straight = decisions(range(1, 40))
    blocks = [list(range(start, min(start + lag, 40))) for start in range(1, 40, lag)]
    shuffled = [index for block in blocks for index in generator.sample(block, len(block))]
    assert decisions(shuffled) == straight
    assert not all(straight.values())
