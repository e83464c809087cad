import csv
import itertools
import math
import statistics
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from podium.analysis.estimates.design_analysis import (
    chance_of_better,
    classes_needed,
    least_significant_difference,
    random_search_odds,
    recall_error,
    selection_noise,
)
from podium.analysis.estimates.normal_distribution import cdf

DATA = Path(__file__).parents[2] / "data"


def simulated(true_scores_RM, noise, rng):
    """Share of best picks, regret and optimism over searches, with their standard errors."""
    outcomes = []
    for true_M in true_scores_RM:
        score_M = [value + noise * rng.standard_normal() for value in true_M]
        picked = max(range(len(true_M)), key=lambda index: score_M[index])
        best = max(true_M)
        outcomes.append(
            (true_M[picked] == best, best - true_M[picked], score_M[picked] - true_M[picked])
        )
    outcomes = np.array(outcomes, dtype=float)
    return outcomes.mean(axis=0), outcomes.std(axis=0) / math.sqrt(len(outcomes))


def assert_agrees(odds, simulation):
    mean, error = simulation
    found = np.array(odds)
    assert np.all(np.abs(found - mean) < 4 * error + 1e-6), (found, mean, error)


# Odds of a search


@pytest.mark.parametrize(
    ("num_configs", "spread", "noise"), [(2, 1, 1), (9, 1.0, 0.1), (20, 2.0, 1.5), (40, 0.5, 3.0)]
)
def test_odds_of_drawn_configs_are_those_of_searching_again_and_again(num_configs, spread, noise):
    rng = np.random.default_rng(num_configs)
    drawn = 80 + spread * rng.standard_normal((4000, num_configs))
    odds = random_search_odds(num_configs, spread=spread, noise=noise)
    assert_agrees(odds, simulated(drawn, noise, rng))


def test_without_noise_the_best_is_picked_and_promises_nothing_more():
    odds = random_search_odds(5, spread=1.0, noise=0.0)
    assert odds == (1.0, 0.0, 0.0)


def test_one_config_is_the_best_one_without_optimism():
    odds = random_search_odds(1, spread=1.0, noise=2.0)
    assert odds == pytest.approx((1, 0, 0), abs=1e-6)


# Noise of a validation score


def test_the_error_of_cub_with_ten_classes_is_that_of_586_queries():
    error = recall_error(0.92, num_queries=586, num_classes=10, class_correlation=0.0)
    assert error == pytest.approx(0.0112, abs=5e-5)


@pytest.mark.parametrize("class_correlation", [0.0, 0.15, 0.6])
@pytest.mark.parametrize(("recall", "num_classes", "per_class"), [(0.8, 48, 16), (0.5, 10, 30)])
def test_the_error_is_the_scatter_of_recalls_over_classes_drawn_again(
    recall, num_classes, per_class, class_correlation
):
    """Classes have a recall of their own, beta distributed; queries succeed with that chance."""
    rng = np.random.default_rng(1)
    shape = (4000, num_classes)
    if class_correlation == 0:
        chances = np.full(shape, recall)
    else:
        size = 1 / class_correlation - 1
        chances = rng.beta(recall * size, (1 - recall) * size, shape)
    recalls = rng.binomial(per_class, chances).sum(axis=1) / (num_classes * per_class)
    error = recall_error(
        recall,
        num_queries=num_classes * per_class,
        num_classes=num_classes,
        class_correlation=class_correlation,
    )
    assert error == pytest.approx(recalls.std(), rel=0.06)


def test_published_folds_scatter_as_much_as_plans_assume():
    """Ten folds of CUB200-2011, 10 classes of about 586 images each."""
    with (DATA / "thesis_cross_validation.csv").open() as file:
        recalls = [float(row["best_val_recall_at_1"]) / 100 for row in csv.DictReader(file)]
    recall, scatter = statistics.mean(recalls), statistics.stdev(recalls)
    error = recall_error(recall, num_queries=586, num_classes=10, class_correlation=0.15)
    assert scatter == pytest.approx(0.0198, abs=5e-5)
    independent = recall_error(recall, num_queries=586, num_classes=10, class_correlation=0)
    assert scatter > 3 * independent
    assert scatter == pytest.approx(error, rel=0.06)


@pytest.mark.parametrize("shared", [0.0, 0.7])
def test_only_what_configs_do_not_share_moves_the_choice(shared):
    """The better of two configs wins as often as in plain simulation of all three causes."""
    rng = np.random.default_rng(2)
    error, seed_std, ahead, num = 2.6, 0.8, 1.0, 40_000
    of_all = math.sqrt(shared) * error * rng.standard_normal(num)
    of_each = math.sqrt(1 - shared) * error * rng.standard_normal((2, num))
    of_seeds = seed_std * rng.standard_normal((2, num))
    worse, better = of_all + of_each + of_seeds + np.array([[0.0], [ahead]])
    noise = selection_noise(error, shared=shared, seed_std=seed_std)
    assert chance_of_better(ahead, noise) == pytest.approx((better > worse).mean(), abs=0.01)
    within = np.abs(better - worse - ahead) < least_significant_difference(noise)
    assert within.mean() == pytest.approx(0.95, abs=0.005)


def test_without_noise_the_better_always_wins():
    assert chance_of_better(0.1, 0.0) == 1.0
    assert chance_of_better(0.0, 0.0) == 0.5
    assert chance_of_better(0.0, 1.0) == 0.5


@pytest.mark.parametrize("seed_std", [0.0, 0.003])
@pytest.mark.parametrize("difference", [0.01, 0.02, 0.5])
def test_classes_needed_are_the_first_that_suffice(difference, seed_std):
    """Counted up one by one."""
    for num_classes in itertools.count(1):
        error = recall_error(
            0.8, num_queries=num_classes * 16, num_classes=num_classes, class_correlation=0.1
        )
        noise = selection_noise(error, shared=0.7, seed_std=seed_std)
        if least_significant_difference(noise) <= difference:
            break
    assert num_classes == classes_needed(
        difference,
        recall=0.8,
        queries_per_class=16,
        class_correlation=0.1,
        shared=0.7,
        seed_std=seed_std,
    )


def test_no_number_of_classes_makes_up_for_the_scatter_over_seeds():
    arguments = {
        "recall": 0.8,
        "queries_per_class": 16,
        "class_correlation": 0.1,
        "shared": 0.7,
        "seed_std": 0.01,
    }
    assert classes_needed(least_significant_difference(0.01), **arguments) is None
    assert classes_needed(least_significant_difference(0.0101), **arguments) > 1000


# The distribution, and what plans load


def test_the_normal_distribution_is_scipys():
    z = np.linspace(-9, 9, 3001)
    assert cdf(z) == pytest.approx(stats.norm.cdf(z), abs=1e-6)
