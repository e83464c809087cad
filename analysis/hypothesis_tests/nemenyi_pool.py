"""What Nemenyi's verdicts owe to who else takes part. B = blocks, C = competitors."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from analysis.estimates.ranks import average_ranks
from analysis.hypothesis_tests.nemenyi import critical_difference

__all__ = ["PoolChange", "PoolSensitivity", "pool_sensitivity"]

_POOL = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolChange:
    """A pair whose verdict depends on the pool; gaps are in average ranks.

    ``is_apart_in_pool`` says what the small pool says; the whole field says the opposite.
    """

    a: str
    b: str
    gap: float
    gap_in_pool: float
    is_apart_in_pool: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSensitivity:
    """Nemenyi's test of the best five alone, against that of everybody.

    Attributes:
        pool: who is in it.
        critical_difference: of everybody.
        critical_difference_in_pool: of the five.
        changed: the pairs of the five whose verdict is another one.
    """

    pool: tuple[str, ...]
    critical_difference: float
    critical_difference_in_pool: float
    changed: tuple[PoolChange, ...]


def pool_sensitivity(
    names: Sequence[str], scores_BC: NDArray[np.float64], alpha: float
) -> PoolSensitivity | None:
    """Rank the best five among themselves, and compare with their ranks among all.

    Both ranks and critical difference change with the pool, which the scores of a pair do not
    (Benavoli et al. 2016).

    Args:
        names: the C competitors, best first.
        scores_BC: finite scores, higher is better, over the same blocks for both.
        alpha: of both tests.

    Returns:
        None with five competitors or fewer.
    """
    num_blocks, num_competitors = scores_BC.shape
    if num_competitors <= _POOL:
        return None
    all_C = average_ranks(scores_BC).mean(axis=0)
    pool_C = average_ranks(scores_BC[:, :_POOL]).mean(axis=0)
    limit = critical_difference(num_competitors, num_blocks, alpha)
    limit_in_pool = critical_difference(_POOL, num_blocks, alpha)
    changed = []
    for a, b in combinations(range(_POOL), 2):
        gap, gap_in_pool = abs(float(all_C[a] - all_C[b])), abs(float(pool_C[a] - pool_C[b]))
        is_apart_in_pool = gap_in_pool >= limit_in_pool
        if is_apart_in_pool != (gap >= limit):
            changed.append(
                PoolChange(
                    a=names[a],
                    b=names[b],
                    gap=gap,
                    gap_in_pool=gap_in_pool,
                    is_apart_in_pool=is_apart_in_pool,
                )
            )
    return PoolSensitivity(
        pool=tuple(names[:_POOL]),
        critical_difference=limit,
        critical_difference_in_pool=limit_in_pool,
        changed=tuple(changed),
    )
