import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.racing import Race, rung_of
from orchestrator.study import EarlyStopping

ASHA = EarlyStopping(kind="asha", grace_epochs=1, reduction_factor=3)


@pytest.mark.parametrize(
    ("epoch", "rung"), [(1, 0), (2, None), (3, 1), (4, None), (9, 2), (27, 3), (28, None)]
)
def test_rungs_lie_at_powers_of_the_reduction_factor(epoch, rung):
    assert rung_of(ASHA, epoch) == rung


def test_without_early_stopping_there_is_no_rung():
    assert rung_of(EarlyStopping(kind="none"), 1) is None


def test_the_first_trial_at_a_rung_goes_on_and_a_worse_second_one_does_not():
    race = Race(ASHA)
    assert race.goes_on(1, 1, 0.5)
    assert not race.goes_on(2, 1, 0.4)
    assert race.goes_on(3, 1, 0.6)


def test_ties_go_on():
    race = Race(ASHA)
    assert race.goes_on(1, 1, 0.5)
    assert race.goes_on(2, 1, 0.5)


def test_the_published_default_is_never_stopped():
    race = Race(ASHA)
    for index in range(1, 9):
        race.goes_on(index, 1, 0.9)
    assert race.goes_on(0, 1, 0.0)


def test_asking_twice_gives_the_same_answer():
    race = Race(ASHA)
    race.goes_on(1, 1, 0.7)
    assert [race.goes_on(2, 1, 0.6) for _ in range(3)] == [False, False, False]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(2, 4))
def test_a_trial_goes_on_exactly_if_it_is_among_the_best_share_so_far(scores, factor):
    race = Race(EarlyStopping(kind="asha", grace_epochs=1, reduction_factor=factor))
    for index, score in enumerate(scores, start=1):
        seen = scores[:index]
        place = sorted(seen, reverse=True).index(score) + 1  # ties share the better place
        assert race.goes_on(index, 1, score) == (place <= math.ceil(index / factor))


def test_a_deterministic_race_does_not_depend_on_who_arrives_first():
    generator = random.Random(0)
    scores = {index: generator.random() for index in range(1, 40)}
    lag = 4

    def decisions(order):
        # A trial can only start once everything it is compared with has ended, so every order in
        # which `lag` neighbours are shuffled is possible.
        race = Race(ASHA)
        return {
            index: race.goes_on(index, 1, scores[index], lambda other, i=index: other <= i - lag)
            for index in order
        }

    straight = decisions(range(1, 40))
    blocks = [list(range(start, min(start + lag, 40))) for start in range(1, 40, lag)]
    shuffled = [index for block in blocks for index in generator.sample(block, len(block))]
    assert decisions(shuffled) == straight
