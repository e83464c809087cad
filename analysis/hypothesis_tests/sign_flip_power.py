"""How often the joint sign-flip test would find a difference, by simulation. Numpy only."""

import numpy as np

from podium.analysis.hypothesis_tests.sign_flip_test import correlations, fewest_units, sign_flips

_TABLES = 300  # of which a share has a standard error of at most 2.9 %
_MOST_FLIPS = 256  # random ones beyond 9 units, which changes the power by less than that
_MOST_NUMBERS = 2**22  # tables times flips times pairs


def sign_flip_power(
    difference: float,
    *,
    num_units: int,
    num_losses: int,
    is_against_one: bool,
    difference_std: float,
    alpha: float,
) -> float:
    """The share of simulated studies in which one better loss differs from a given other.

    Noise is normal; the other losses are equal. Of many pairs fewer studies are simulated.

    Args:
        difference: how much better the one loss is.
        num_units: number of independent units.
        num_losses: number of losses, from 2.
        is_against_one: whether the better one is compared with each other, not all pairs.
        difference_std: standard deviation of the difference of two losses over units.
        alpha: level of the test.
    """
    if difference_std == 0:
        return 1.0 if num_units >= fewest_units(alpha) else 0.0
    generator = np.random.default_rng(0)
    first_P, second_P = np.triu_indices(num_losses, k=1)
    if is_against_one:
        first_P, second_P = first_P[: num_losses - 1], second_P[: num_losses - 1]
    flips_UN = sign_flips(num_units, _MOST_FLIPS)
    fitting = _MOST_NUMBERS // (flips_UN.shape[1] * len(first_P))
    num_tables = min(_TABLES, max(20, fitting))
    num_found = 0
    for _ in range(num_tables):
        scores_UC = generator.normal(size=(num_units, num_losses)) * difference_std / np.sqrt(2)
        scores_UC[:, 0] += difference
        gaps_UP = scores_UC[:, first_P] - scores_UC[:, second_P]
        own_N = np.abs(gaps_UP[:, 0] @ flips_UN) / np.linalg.norm(gaps_UP[:, 0])
        others_PN = correlations(flips_UN, gaps_UP[:, 1:]) * np.sqrt(num_units)
        largest_N = others_PN.max(axis=0, initial=0.0)
        num_found += int((np.maximum(own_N, largest_N) >= own_N[0] - 1e-9).mean() <= alpha)
    return float(num_found / num_tables)
