import numpy as np
import pytest

from analysis.hypothesis_tests.bayesian_signed_rank import better_probabilities


def probabilities(differences, rope, **options):
    (found,) = better_probabilities(
        np.array(differences, dtype=float)[:, None], rope=rope, **options
    )
    return found.a_better, found.rope, found.b_better


def slow_posterior(differences, rope, draws, seed):
    """The published definition, draw by draw and pair of differences by pair."""
    values = [0.0, *differences]
    generator = np.random.default_rng(seed)
    wins = np.zeros(3)
    for _ in range(draws):
        weights = generator.dirichlet([0.5] + [1.0] * len(differences))
        theta = np.zeros(3)
        for w_i, z_i in zip(weights, values, strict=True):
            for w_j, z_j in zip(weights, values, strict=True):
                middle = (z_i + z_j) / 2
                side = 0 if middle > rope else 2 if middle < -rope else 1
                theta[side] += w_i * w_j
        wins[np.argmax(theta)] += 1
    return wins / draws


# Printed by baycomp 1.0.3, prior 0.5 at 0, 50,000 draws: SignedRankTest.probs(a, b) where
# generator = default_rng(seed); a = normal(10 + seed); b = a + 0.6 normal(10 + seed) + 0.25.
BAYCOMP = {
    (0, 0.15): (0.27434, 0.38432, 0.34134),
    (1, 0.35): (0.0, 0.99484, 0.00516),
    (2, 0.05): (0.00434, 0.0, 0.99566),
    (3, 0.45): (0.0, 0.93648, 0.06352),
    (4, 0.25): (0.17128, 0.47872, 0.35),
}


@pytest.mark.parametrize(("case", "expected"), BAYCOMP.items())
def test_probabilities_are_those_of_baycomp(case, expected):
    seed, rope = case
    generator = np.random.default_rng(seed)
    a = generator.normal(size=10 + seed)
    b = a + generator.normal(size=10 + seed) * 0.6 + 0.25
    # Four standard errors of 10,000 draws.
    assert probabilities(a - b, rope) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("rope", [0.0, 0.3])
def test_probabilities_are_those_of_the_definition_also_with_ties_and_zeros(rope):
    differences = [0.5, -0.2, 0.5, 0.0, 0.9, -0.7]
    expected = slow_posterior(differences, rope, draws=800, seed=1)
    assert probabilities(differences, rope) == pytest.approx(expected, abs=0.08)
    assert sum(probabilities(differences, rope)) == pytest.approx(1)


def test_sides_swap_with_the_sign_and_blocks_have_no_order():
    differences = np.random.default_rng(0).normal(0.2, 1, size=9)
    found = probabilities(differences, 0.1)
    assert probabilities(-differences, 0.1) == pytest.approx(found[::-1], abs=1e-12)
    assert probabilities(differences[::-1], 0.1) == pytest.approx(found, abs=0.03)


def test_identical_columns_are_as_good_as_equal():
    assert probabilities([0.0] * 8, 0.0) == (0, 1, 0)
    assert probabilities([0.1] * 8, 0.2) == (0, 1, 0)


def test_a_clean_sweep_beyond_the_region_is_almost_certain():
    assert probabilities([1.0] * 10, 0.2)[0] > 0.99


def test_a_wider_region_takes_from_both_sides():
    differences = np.random.default_rng(5).normal(0.1, 1, size=12)
    masses = [probabilities(differences, rope)[1] for rope in (0, 0.3, 0.6, 2)]
    assert masses == sorted(masses)


def test_the_same_seed_gives_the_same_numbers_alone_or_with_others():
    table = np.random.default_rng(2).normal(size=(7, 5))
    together = better_probabilities(table, rope=0.1)
    assert together == better_probabilities(table, rope=0.1)
    assert together[3] == better_probabilities(table[:, 3:4], rope=0.1)[0]


@pytest.mark.parametrize("rope", [-1, float("nan")])
def test_a_region_has_a_width(rope):
    with pytest.raises(ValueError, match="width from 0"):
        better_probabilities(np.ones((5, 1)), rope=rope)


def test_equal_competitors_are_rarely_probably_better():
    # Without a region, 95 % for either side is crossed about twice as often as 5 % of the time.
    table = np.random.default_rng(3).normal(size=(12, 600))
    found = better_probabilities(table, rope=0.0, draws=2_000)
    share = np.mean([max(one.a_better, one.b_better) >= 0.95 for one in found])
    assert 0.05 < share < 0.15
    near = better_probabilities(table, rope=0.5, draws=2_000)
    assert np.mean([max(one.a_better, one.b_better) >= 0.95 for one in near]) < 0.01


def test_a_difference_on_the_edge_of_the_region_is_in_it_whatever_its_rounding():
    gaps = np.array([61.2 - 60.9, 60.4 - 60.1, 62.3 - 62.0, 64.8 - 64.5, 70.7 - 70.4, 50.6 - 50.3])
    assert len(set(gaps > 0.3)) == 2  # some are above by rounding
    (found,) = better_probabilities(gaps[:, None], rope=0.3)
    assert (found.a_better, found.rope, found.b_better) == (0, 1, 0)
