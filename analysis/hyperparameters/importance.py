"""How much each hyperparameter decides, with its interval and the noise it must exceed.

N configs of a search, R replicates. Importance here is a share of the variance of "is among the
best", a tenth but at least five, 0 to 1 (PED-ANOVA). It is never negative, so pure noise has
importance too. Shuffled scores say how much: an importance that does not exceed the 95th
percentile of what shuffling gives is noise.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from podium.analysis.hyperparameters.ped_anova import best_mask, variance_shares
from podium.analysis.hyperparameters.search_configs import SearchConfigs
from podium.analysis.hyperparameters.searched_ranges import SearchedRange

LEVEL = 0.05
"""Significance level of being above noise."""

LEAST_CONFIGS = 15  # a third of which are the best, so that no density rests on fewer than 5
_BEST = 0.1  # share of the configs; more where fewer than 5 configs would be in it
_LEAST_BEST = 5
_LEFT_OUT = 0.2  # of a subsample
_SEED = 0

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchImportance:
    """Importances of one search.

    Attributes:
        search: the search.
        num_configs: number of configs with a score.
        values: hyperparameter -> importance; None where there is none.
        reasons: hyperparameter -> why it has no importance.
        noise: hyperparameter -> importances for shuffled scores (R,).
        deviations: hyperparameter -> deviations of the importance that other configs would give,
            from subsamples (R,).
    """

    search: SearchConfigs
    num_configs: int
    values: Mapping[str, float | None]
    reasons: Mapping[str, str]
    noise: Mapping[str, Floats]
    deviations: Mapping[str, Floats]


def search_importances(
    searches: Sequence[SearchConfigs],
    *,
    on: Literal["validation", "test"] = "validation",
    permutations: int = 200,
    subsamples: int = 150,
) -> tuple[SearchImportance, ...]:
    """Importances within each search; nothing is compared between searches.

    Shuffled and left out by generators that follow from the loss and the configs, so
    that no result depends on which other searches there are.
    """
    return tuple(_of_search(item, on, permutations, subsamples) for item in searches)


def _of_search(
    search: SearchConfigs, on: str, permutations: int, subsamples: int
) -> SearchImportance:
    scores_N = search.scores_N if on == "validation" else search.test_N
    known_N = np.isfinite(scores_N)
    scores_N = scores_N[known_N]
    reasons = {
        name: reason
        for name in search.ranges
        if (reason := _reason(search.ranges[name], scores_N, search.positions[name][known_N]))
    }
    positions = {
        name: search.positions[name][known_N] for name in search.ranges if name not in reasons
    }
    shares: dict[str, Floats] = {}
    if positions:
        generator = _generator(search.loss, on, positions)
        weights_RN, best_RN = _replicates(scores_N, permutations, subsamples, generator)
        for name, positions_N in positions.items():
            searched = search.ranges[name]
            shares[name] = variance_shares(
                searched.cells(positions_N),
                searched.num_steps,
                is_choice=searched.is_choice,
                weights_RN=weights_RN,
                best_RN=best_RN,
            )
    num, end = len(scores_N), 1 + permutations
    return SearchImportance(
        search=search,
        num_configs=num,
        values={
            name: float(shares[name][0]) if name in shares else None for name in search.ranges
        },
        reasons=reasons,
        noise={name: found[1:end] for name, found in shares.items()},
        deviations={name: _deviations(found[end:], num) for name, found in shares.items()},
    )


def _generator(loss: str, on: str, positions: Mapping[str, Floats]) -> np.random.Generator:
    """The generator of one search; searches that share their configs draw alike.

    What a config has that its hyperparameters do not explain is then the same in all of them, in
    the shuffled scores as in the real ones.
    """
    key = zlib.crc32(f"{loss}|{on}".encode())
    for name, positions_N in positions.items():
        key = zlib.crc32(positions_N.round(9).tobytes(), zlib.crc32(name.encode(), key))
    return np.random.default_rng([_SEED, key])


def _reason(searched: SearchedRange, scores_N: Floats, positions_N: Floats) -> str:
    """Why there is no importance; empty if there is one."""
    if len(scores_N) < LEAST_CONFIGS:
        return f"needs {LEAST_CONFIGS} complete configs; has {len(scores_N)}"
    exists_N = ~np.isnan(positions_N)
    if searched.is_constant or len(np.unique(positions_N[exists_N])) < 2:
        return "was not varied"
    return "" if np.ptp(scores_N) else "has the same score everywhere"


def _replicates(
    scores_N: Floats, permutations: int, subsamples: int, generator: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_]]:
    """How often each config counts, and which are the best: as they are, shuffled, subsampled."""
    num = len(scores_N)
    quantile = max(_BEST, _LEAST_BEST / num)
    once_N = np.ones((1, num))
    best_N = best_mask(scores_N, once_N, quantile)
    shuffled_RN = generator.permuted(np.repeat(best_N, permutations, axis=0), axis=1)
    order_RN = generator.random((subsamples, num)).argsort(axis=1)
    kept_RN = (order_RN >= round(num * _LEFT_OUT)).astype(np.float64)
    weights_RN = np.concatenate([once_N, np.ones(shuffled_RN.shape), kept_RN])
    return weights_RN, np.concatenate(
        [best_N, shuffled_RN, best_mask(scores_N, kept_RN, quantile)]
    )


def _deviations(shares_R: Floats, num: int) -> Floats:
    """What other configs would give, from the importances of subsamples of N configs.

    A subsample of n out of N configs differs from the whole as the whole would from another one,
    less a factor: sqrt((N - n) / n) (Politis, Romano and Wolf 1999, Subsampling, chapter 2). The
    bootstrap, which draws configs twice, takes copies for agreement: its standard error of
    PED-ANOVA is two to six times the true one.
    """
    num_out = round(num * _LEFT_OUT)
    deviations_R: Floats = np.sqrt((num - num_out) / num_out) * (shares_R - shares_R.mean())
    return deviations_R
