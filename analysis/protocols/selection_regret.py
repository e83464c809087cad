"""What choosing by validation cost on test. C candidates, E test runs, H halves, R replicates.

Selection regret is T(oracle) - T(picked): the best test score among the same candidates minus that
of what validation picked. An oracle chosen and scored on the same runs is optimistic (selection
bias), and regret too large. Here it is chosen on one half of the test runs, and both are scored on
the other half; over all ways to halve (or many). That estimates the regret against an oracle who
knows half of the test runs: no more than against one who knows the truth.

Assumed: test runs of a candidate differ by independent chance (runs of equal seed may share it),
and none of them is the run by which validation chose, which is left out.
"""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from podium.analysis.estimates.confidence_intervals import FEWEST_VALUES, student_interval
from podium.analysis.estimates.split_halves import all_halves, half_means, other_half, top_shares
from podium.analysis.protocols.selection_candidates import Candidates

MOST_HALVES = 60
"""Largest number of halves H."""

_REPLICATES = 150  # a standard error that is good to 6 %, of hundreds of searches in seconds
_CHUNK = 2**21  # numbers held at once


def mean_regret(candidate_sets: Sequence[Candidates]) -> dict[str, float | None]:
    """``regret``, ``low``, ``high`` and ``standard_error`` of the choices of a protocol."""
    groups: dict[Hashable, int] = {}  # numbers of what is resampled as one
    for one in candidate_sets:
        for group in (("search", one.unit), *_groups_of_runs(one)):
            groups.setdefault(group, len(groups))
    scored = [one for one in candidate_sets if _is_scored(one)]
    found: dict[str, float | None] = dict.fromkeys(("regret", "low", "high", "standard_error"))
    if not scored:
        return found
    estimate = float(_mean(scored, groups, np.ones((1, len(groups))))[0])
    found["regret"] = estimate
    of_searches = sorted({groups["search", one.unit] for one in scored})
    of_runs = sorted({groups[group] for one in scored for group in _groups_of_runs(one)})
    num = min((len(units) for units in (of_searches, of_runs) if len(units) > 1), default=1)
    if num >= FEWEST_VALUES:
        fresh = sorted(set(of_runs) - set(of_searches))
        weights_RG = _weights(len(groups), (of_searches, fresh))
        means_R = _mean(scored, groups, weights_RG)
        error = float(np.nanstd(means_R, ddof=1)) * np.sqrt(num / (num - 1))
        interval = student_interval(estimate, error, num, largest=1.0)
        found |= {"standard_error": error, "low": interval.low, "high": interval.high}
    return found


def cross_fitted_regret(candidates: Candidates) -> float | None:
    """Regret of one choice; None with fewer than two candidates or two test runs of its pick."""
    if not _is_scored(candidates):
        return None
    used_E, _ = candidates.compared()
    regret = float(_regrets(candidates, np.ones((1, int(used_E.sum()))))[0])
    return None if np.isnan(regret) else regret


def _is_scored(candidates: Candidates) -> bool:
    """Whether the pick and another candidate share two test runs that the choice did not see."""
    used_E, kept_C = candidates.compared()
    return bool(used_E.sum() > 1 and kept_C.sum() > 1)


def _groups_of_runs(candidates: Candidates) -> list[Hashable]:
    """What each compared run is resampled with: its search's choices; final runs are alone."""
    used_E, _ = candidates.compared()
    runs = [run for run, is_used in zip(candidates.runs, used_E, strict=True) if is_used]
    return [run[:2] if run[0] == "search" else run for run in runs]


def _regrets(candidates: Candidates, weights_RE: NDArray[np.float64]) -> NDArray[np.float64]:
    """Regret in each replicate (R,); NaN where it has no half to choose or to score on.

    E are the test runs that the pick has and the choice did not see; candidates that lack one of
    them are left out.
    """
    used_E, kept_C = candidates.compared()
    test_CE, shares_C = candidates.test_CE[kept_C][:, used_E], candidates.pick_shares_C[kept_C]
    halves_HE = all_halves(test_CE.shape[1], most=MOST_HALVES, seed=0)
    size = max(1, _CHUNK // (len(halves_HE) * len(test_CE)))
    regrets: list[NDArray[np.float64]] = []
    for start in range(0, len(weights_RE), size):
        means_RHC = half_means(test_CE, halves_HE, weights_RE[start : start + size])
        elsewhere_RHC = other_half(means_RHC)
        gains_RH = ((top_shares(means_RHC) - shares_C) * elsewhere_RHC).sum(axis=2)
        known_RH = np.isfinite(gains_RH)
        with np.errstate(invalid="ignore"):
            regrets.append(np.where(known_RH, gains_RH, 0).sum(axis=1) / known_RH.sum(axis=1))
    return np.concatenate(regrets)


def _mean(
    scored: Sequence[Candidates], groups: Mapping[Hashable, int], weights_RG: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weighted mean regret over searches in each replicate."""
    columns = [[groups[group] for group in _groups_of_runs(one)] for one in scored]
    regrets_QR = np.stack(
        [_regrets(one, weights_RG[:, own]) for one, own in zip(scored, columns, strict=True)]
    )
    of_searches = np.stack([weights_RG[:, groups["search", one.unit]] for one in scored])
    weights_QR = np.where(np.isfinite(regrets_QR), of_searches, 0)
    with np.errstate(invalid="ignore"):
        means: NDArray[np.float64] = (np.nan_to_num(regrets_QR) * weights_QR).sum(
            axis=0
        ) / weights_QR.sum(axis=0)
    return means


def _weights(num_groups: int, strata: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """How often each group is drawn in each replicate, each stratum within itself."""
    generator = np.random.default_rng(0)
    weights_RG = np.ones((_REPLICATES, num_groups))
    for members in strata:
        if len(members) > 1:
            weights_RG[:, members] = generator.multinomial(
                len(members), [1 / len(members)] * len(members), size=_REPLICATES
            )
    return weights_RG
