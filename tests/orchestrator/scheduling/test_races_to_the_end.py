"""Whole races, with made-up scores: against slow rules, and for what they save."""

import math
import random
import statistics
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.orchestrator.scheduling.early_stopping import EarlyStopper
from podium.orchestrator.study.study import EarlyStopping, Stopping
from tests.orchestrator.slow_race import slow_verdict

rules = st.builds(
    EarlyStopping,
    kind=st.sampled_from(get_args(Stopping)),
    grace_epochs=st.integers(1, 5),
    reduction_factor=st.integers(2, 4),
)


@st.composite
def histories(draw):
    """A race as it may go with several slots: rules, and each trial's scores in some order."""
    stopping = draw(rules)
    epochs, folds = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    num_trials = draw(st.integers(1, 25))
    levels = draw(st.integers(2, 40))  # few levels make ties
    generator = random.Random(draw(st.integers(0, 2**32)))
    scores = [
        [generator.randrange(levels) / levels for _ in range(epochs * folds)]
        for _ in range(num_trials)
    ]
    turns = [generator.randrange(max(1, num_trials // 3)) for _ in range(5_000)]
    return stopping, epochs, folds, scores, turns


def events(scores, turns, continues):
    """Let trials report in turns; a trial that is stopped or over makes room for the next."""
    waiting = list(range(len(scores)))
    slots = max(1, len(scores) // 3)
    running = []
    for turn in turns:
        while waiting and len(running) < slots:
            running.append([waiting.pop(0), 0])
        if not running:
            return
        place = turn % len(running)
        index, done = running[place]
        step = done + 1
        if continues(index, step, scores[index][done]) and step < len(scores[index]):
            running[place][1] = step
        else:
            running.pop(place)
    assert not running, "more turns are needed"


@given(histories())
def test_every_decision_is_that_of_the_slow_rules(history):
    stopping, epochs, folds, scores, turns = history
    raced, heard = EarlyStopper(stopping, epochs=epochs, folds=folds), []

    def continues(index, step, score):
        heard.append((index, step, score))
        expected = slow_verdict(stopping, epochs, folds, heard, index, step)
        assert raced.continues(index, step, score) == expected
        return expected

    events(scores, turns, continues)


@given(histories(), st.integers(0, 200))
def test_a_race_whose_scores_are_recorded_again_continues_as_the_old_one(history, num_before):
    stopping, epochs, folds, scores, turns = history
    raced, heard = EarlyStopper(stopping, epochs=epochs, folds=folds), []

    def continues(index, step, score):
        nonlocal raced
        if len(heard) == num_before:
            again = EarlyStopper(stopping, epochs=epochs, folds=folds)
            for event in sorted(heard):
                again.continues(*event)
            raced = again
        heard.append((index, step, score))
        return raced.continues(index, step, score)

    events(scores, turns, continues)
    undisturbed, plain = EarlyStopper(stopping, epochs=epochs, folds=folds), []

    def undisturbed_goes_on(*event):
        plain.append(event)
        return undisturbed.continues(*event)

    events(scores, turns, undisturbed_goes_on)
    assert heard == plain


# Simulated searches: curves that rise at speeds of their own towards ceilings of their own.


def search(kind, seed, *, trials=40, epochs=9, folds=1, noise=0.01):
    """Part of the epochs saved, and what the winner of a full search beats the raced one's by."""
    generator = random.Random(seed)
    raced = EarlyStopper(EarlyStopping(kind=kind), epochs=epochs, folds=folds)
    harder = [generator.gauss(0, 0.05) for _ in range(folds)]
    used, finals, all_finals = 0, [], []
    for index in range(trials):
        ceiling, speed = generator.gauss(0.6, 0.1), generator.uniform(0.5, 1.5)
        bests: list[float] = []
        stopped = False
        for fold in range(folds):
            bests.append(0.0)
            for epoch in range(1, epochs + 1):
                score = (ceiling + harder[fold]) * (1 - math.exp(-speed * epoch))
                bests[-1] = max(bests[-1], score + generator.gauss(0, noise))
                if not stopped:
                    used += 1
                    step = fold * epochs + epoch
                    stopped = not raced.continues(index, step, statistics.mean(bests))
        all_finals.append(statistics.mean(bests))
        finals.append(-1.0 if stopped else all_finals[-1])
    return 1 - used / (trials * epochs * folds), max(all_finals) - max(finals)


@pytest.mark.parametrize(("kind", "folds"), [("asha", 1), ("asha", 5), ("folds", 5)])
def test_racing_saves_a_third_of_the_epochs_and_keeps_a_winner_as_good(kind, folds):
    saved, lost = zip(*(search(kind, seed, folds=folds) for seed in range(30)), strict=True)
    assert statistics.mean(saved) > 1 / 3
    assert statistics.mean(lost) < 0.01  # one sd of noise, a tenth of that between configs
    assert statistics.median(lost) == 0
