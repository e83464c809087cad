"""Regret against a slow recomputation from the rows, and against planted truth."""

from itertools import combinations, groupby

import numpy as np
import pytest

from podium.analysis.protocols.selection_candidates import config_candidates
from podium.analysis.protocols.selection_regret import cross_fitted_regret, mean_regret
from tests.analysis.protocol_studies import (
    final,
    run,
    runs_table,
    searched_and_tested,
    shared_configs,
)


def mean(values):
    return sum(values) / len(values)


def slow_regret(val, tests):
    """Every half in turn; ``tests`` maps a candidate to all its test runs but its own."""
    best_val = max(val.values())
    picks = [c for c in val if val[c] == best_val]
    num = len(next(iter(tests.values())))
    found = []
    for size in {num // 2, num - num // 2}:
        for side in combinations(range(num), size):
            rest = [s for s in range(num) if s not in side]
            on_side = {c: round(mean([tests[c][s] for s in side]), 9) for c in tests}
            oracles = [c for c in tests if on_side[c] == max(on_side.values())]
            scored = {c: mean([tests[c][s] for s in rest]) for c in tests}
            found.append(mean([scored[c] for c in oracles]) - mean([scored[c] for c in picks]))
    return mean(found)


def mean_regrets(runs, candidates_of=config_candidates):
    """`mean_regret` of all searches of a block, loss and protocol, one after the other."""
    return [
        mean_regret(list(searches))
        for _, searches in groupby(candidates_of(runs), key=lambda candidates: candidates.place)
    ]


def regrets_of(runs):
    """The regret of every search."""
    return [cross_fitted_regret(found) for found in config_candidates(runs)]


@pytest.mark.parametrize("num_runs", [2, 3, 5, 6])
def test_regret_equals_a_slow_computation_also_with_ties(num_runs):
    generator = np.random.default_rng(num_runs)
    val = generator.integers(0, 4, 7).astype(float)
    test = generator.integers(0, 5, (7, num_runs)).astype(float)
    names = [f"c{c}" for c in range(7)]
    expected = slow_regret(
        dict(zip(names, val, strict=True)), dict(zip(names, test.tolist(), strict=True))
    )
    assert regrets_of(searched_and_tested(val, test)) == pytest.approx([expected])


def test_the_run_a_choice_was_made_by_does_not_score_it():
    generator = np.random.default_rng(0)
    val, test = generator.normal(size=(2, 4, 5))
    regrets = regrets_of(shared_configs(val, test))
    for q, regret in enumerate(regrets):
        others = np.delete(test, q, axis=0)
        expected = slow_regret(dict(enumerate(val[q])), dict(enumerate(others.T.tolist())))
        assert regret == pytest.approx(expected)
    (overall,) = mean_regrets(shared_configs(val, test))
    assert overall["regret"] == pytest.approx(np.mean(regrets))


def test_one_test_run_has_no_regret():
    frame = searched_and_tested([1, 2], [[5.0], [3.0]])
    assert regrets_of(frame) == [None]
    (mean,) = mean_regrets(frame)
    assert (mean["regret"], mean["low"], mean["high"]) == (None,) * 3


def test_pruned_failed_and_untested_configs_are_not_compared():
    rows = [
        run("c0", val=0.5),
        run("c1", val=0.4),
        run("c2", val=0.9, state="PRUNED"),
        run("c3", state="FAILED"),
        run("c5"),  # complete, they say, but without a score
        run("c4", val=0.3),
        *(final("c0", s, 1.0) for s in range(3)),
        *(final("c1", s, 2.0) for s in range(3)),
        *(final("c2", s, 9.0) for s in range(3)),
        *(final("c4", s, 9.0, state="COMPLETE" if s else "FAILED") for s in range(3)),
    ]
    assert regrets_of(runs_table(rows)) == [1]


def test_a_pick_that_was_not_tested_or_has_no_rival_has_no_regret():
    rows = [run("c0", val=0.5), run("c1", val=0.4), *(final("c1", s, 1.0) for s in range(3))]
    assert regrets_of(runs_table(rows)) == [None]
    alone = runs_table([run("c0", val=0.5), *(final("c0", s, 1.0) for s in range(3))])
    assert regrets_of(alone) == [None]


def test_folds_of_a_run_are_averaged():
    rows = [
        run(config, fold=fold, val=val, test=test)
        for config, folds in {"c0": [(1, 5), (5, 1)], "c1": [(4, 4), (4, 0)]}.items()
        for fold, (val, test) in enumerate(folds)
    ]
    (candidates,) = config_candidates(runs_table(rows))
    assert candidates.val_C.tolist() == [3, 4]
    assert candidates.test_CE.tolist() == [[3], [2]]


def best_of_noisy(true_C, error, num_draws):
    """Mean true score of what is best when each is seen with an error."""
    generator = np.random.default_rng(77)
    seen = true_C + generator.normal(0, error, (num_draws, len(true_C)))
    return true_C[seen.argmax(axis=1)].mean()


def assert_covered(frames_and_truths, candidates_of=config_candidates):
    """88 % of the intervals hold the truth, and the estimates have no bias."""
    inside, errors = [], []
    for frame, truth in frames_and_truths:
        (row,) = mean_regrets(frame, candidates_of)
        if row["low"] is not None:  # its resamples differ
            inside.append(row["low"] <= truth <= row["high"])
        errors.append(row["regret"] - truth)
    assert len(inside) >= 0.6 * len(errors)
    assert np.mean(inside) >= 0.88
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(len(errors))


def test_the_interval_holds_the_planted_regret_of_one_choice():
    def studies():
        for repeat in range(40):
            generator = np.random.default_rng(repeat)
            true_C = generator.normal(0, 0.6, 9)
            val_C = true_C + generator.normal(0, 0.5, 9)
            seeds_S = generator.normal(0, 0.3, 6)  # shared by all configs: paired
            test_CS = true_C[:, None] + seeds_S + generator.normal(0, 0.6, (9, 6))
            truth = best_of_noisy(true_C, 0.6 / np.sqrt(3), 4_000) - true_C[val_C.argmax()]
            yield searched_and_tested(val_C, test_CS), truth

    assert_covered(studies())


def test_only_test_runs_that_the_pick_has_are_compared():
    rows = [run("c0", val=0.5), run("c1", val=0.4)]
    rows += [final("c0", s, 1.0) for s in (1, 2)]
    rows += [final("c1", s, test) for s, test in [(1, 3.0), (2, 3.0), (3, 99.0)]]
    assert regrets_of(runs_table(rows)) == [2]


def test_a_large_search_is_resampled_in_parts_to_the_same_end(monkeypatch):
    frame = shared_configs(*np.random.default_rng(0).normal(size=(2, 4, 5)))
    whole = mean_regrets(frame)
    monkeypatch.setattr("podium.analysis.protocols.selection_regret._CHUNK", 100)
    assert mean_regrets(frame) == whole
