"""Bayesian signed-rank test: how probably one competitor is better, or as good as equal.

B = blocks, P = pairs of competitors, N = draws, Z = differences with the prior's in front (B + 1),
T = unordered pairs of these.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FEW_BLOCKS = 6  # below, the prior and single blocks decide
_DRAWS = 10_000
_CHUNK = 2**21  # numbers held at once
_PRIOR_WEIGHT = 0.5
_RELATIVE_TIE = 1e-9  # so near to the edge of the region, a difference is on it


@dataclass(frozen=True, slots=True, kw_only=True)
class BetterProbability:
    """Posterior probabilities of one pair; they sum to 1.

    Attributes:
        a_better: probability that a beats b by more than the region of practical equivalence.
        rope: probability that they are practically equivalent.
        b_better: probability that b beats a by more than the region.
    """

    a_better: float
    rope: float
    b_better: float


def better_probabilities(
    differences_BP: NDArray[np.float64], *, rope: float, draws: int = _DRAWS, seed: int = 0
) -> Sequence[BetterProbability]:
    """Each pair's probabilities, from the posterior of its differences over blocks.

    The differences have a Dirichlet process as prior with weight 0.5 at 0, so block weights are
    Dirichlet(0.5, 1, ..., 1). Of every draw the largest of the three weights of averaged pairs of
    differences (z_i + z_j) / 2 wins: above the region, inside (its ends included, whatever
    their rounding), below. These
    are statements about other blocks of the same kind; they are not adjusted for the number of
    pairs. With fewer than 6 blocks they say little. Assumes independent blocks. Sources: Benavoli
    et al. 2014; Benavoli et al. 2017, section 4.

    Args:
        differences_BP: finite differences a - b of each pair, in units of the score.
        rope: half-width of the region, in units of the score, from 0.
        draws: number of draws N; the standard error of a probability is at most 0.5 / sqrt(N).
        seed: equal seeds give equal numbers; all pairs share their draws of weights.

    Raises:
        ValueError: ``rope`` is negative or no number.
    """
    if not rope >= 0:
        raise ValueError(f"a region of practical equivalence has a width from 0; got {rope}")
    num_blocks, num_pairs = differences_BP.shape
    generator = np.random.default_rng(seed)
    weights_NZ = generator.dirichlet([_PRIOR_WEIGHT, *[1.0] * num_blocks], size=draws)
    values_ZP = np.concatenate([np.zeros((1, num_pairs)), differences_BP])
    first, second = np.triu_indices(num_blocks + 1)
    averages_TP = (values_ZP[first] + values_ZP[second]) / 2
    edge = rope + _RELATIVE_TIE * max(rope, float(np.abs(differences_BP).max(initial=0.0)))
    above_TP, below_TP = (averages_TP > edge).astype(float), (averages_TP < -edge).astype(float)
    # Of two different blocks i < j both (i, j) and (j, i) count.
    times_T = np.where(first == second, 1.0, 2.0)
    wins_P, losses_P = np.zeros(num_pairs), np.zeros(num_pairs)
    chunk = max(1, _CHUNK // max(len(first), num_pairs))
    for start in range(0, draws, chunk):
        drawn_NZ = weights_NZ[start : start + chunk]
        products_NT = times_T * drawn_NZ[:, first] * drawn_NZ[:, second]
        above_NP, below_NP = products_NT @ above_TP, products_NT @ below_TP
        inside_NP = 1 - above_NP - below_NP
        wins_P += ((above_NP > inside_NP) & (above_NP >= below_NP)).sum(axis=0)
        losses_P += ((below_NP > inside_NP) & (below_NP > above_NP)).sum(axis=0)
    return tuple(
        BetterProbability(
            a_better=float(wins / draws),
            rope=float((draws - wins - losses) / draws),
            b_better=float(losses / draws),
        )
        for wins, losses in zip(wins_P, losses_P, strict=True)
    )
