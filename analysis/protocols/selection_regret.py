"""What choosing by validation cost on test. C candidates, E test runs, H halves, R replicates.

Selection regret is T(oracle) - T(picked): the best test score among the same candidates minus that
of what validation picked. An oracle chosen and scored on the same runs is optimistic (selection
bias), and regret too large. Here it is chosen on one half of the test runs, and both are scored on
the other half; over all ways to halve (or many). That estimates the regret against an oracle who
knows half of the test runs: no more than against one who knows the truth.

Assumed: test runs of a candidate differ by independent chance (runs of equal seed may share it),
and none of them is the run by which validation chose, which is left out.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium.analysis.estimates.confidence_intervals import FEWEST_VALUES, student_interval
from podium.analysis.estimates.split_halves import all_halves, half_means, other_half, top_shares
from podium.analysis.protocols.selection_candidates import Candidates, Run

MOST_HALVES = 60
"""Largest number of halves H."""

_REPLICATES = 150  # a standard error that is good to 6 %, of hundreds of searches in seconds
_CHUNK = 2**21  # numbers held at once


def mean_regret(
    candidate_sets: Sequence[Candidates], *, replicates: int = _REPLICATES
) -> dict[str, float | None]:
    """``regret``, ``low``, ``high`` and ``standard_error`` of all choices.

    Args:
        candidate_sets: candidates of each search of one block, loss and protocol.
        replicates: number of bootstrap replicates R.
    """
    groups: dict[Hashable, int] = {}
    scored = [_scored(candidates, groups) for candidates in candidate_sets]
    scored = [one for one in scored if one.halves_HE is not None]
    found: dict[str, float | None] = dict.fromkeys(("regret", "low", "high", "standard_error"))
    if not scored:
        return found
    estimate = float(_mean(scored, np.ones((1, len(groups))))[0])
    found["regret"] = estimate
    of_searches = sorted({one.group for one in scored})
    of_runs = sorted({int(g) for one in scored for g in one.groups_E})
    num = min((len(units) for units in (of_searches, of_runs) if len(units) > 1), default=1)
    if num >= FEWEST_VALUES:
        fresh = sorted(set(of_runs) - set(of_searches))
        weights_RG = _weights(len(groups), (of_searches, fresh), replicates)
        means_R = _mean(scored, weights_RG)
        error = float(np.nanstd(means_R, ddof=1)) * np.sqrt(num / (num - 1))
        interval = student_interval(estimate, error, num, largest=1.0)
        found |= {"standard_error": error, "low": interval.low, "high": interval.high}
    return found


def cross_fitted_regret(candidates: Candidates) -> float | None:
    """Regret of one choice; None with fewer than two candidates or two test runs of its pick."""
    scored = _scored(candidates, {})
    regret = float(_regrets(scored, np.ones((1, scored.test_CE.shape[1])))[0])
    return None if np.isnan(regret) else regret


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    """One choice ready to be resampled.

    Columns are the test runs that the pick has and the choice did not see; candidates that lack
    one of them are left out. Without two runs and two candidates there are no halves, and no
    regret.
    """

    test_CE: NDArray[np.float64]
    pick_shares_C: NDArray[np.float64]
    halves_HE: NDArray[np.bool_] | None
    group: int
    groups_E: NDArray[np.intp]


def _scored(candidates: Candidates, groups: dict[Hashable, int]) -> _Scored:
    """Number in ``groups``, which grows, what is resampled as one."""
    used_E, kept_C = candidates.compared()
    num_runs = int(used_E.sum())
    keys = [run for run, used in zip(candidates.runs, used_E, strict=True) if used]
    return _Scored(
        test_CE=candidates.test_CE[kept_C][:, used_E],
        pick_shares_C=candidates.pick_shares_C[kept_C],
        halves_HE=(
            all_halves(num_runs, most=MOST_HALVES, seed=0)
            if num_runs > 1 and kept_C.sum() > 1
            else None
        ),
        group=groups.setdefault(("search", candidates.unit), len(groups)),
        groups_E=np.array(
            [groups.setdefault(_group_of(key), len(groups)) for key in keys], dtype=np.intp
        ),
    )


def _group_of(run: Run) -> Hashable:
    """Test runs of a search travel with its choice; final runs are on their own."""
    return run[:2] if run[0] == "search" else run


def _regrets(scored: _Scored, weights_RE: NDArray[np.float64]) -> NDArray[np.float64]:
    """Regret in each replicate (R,); NaN where it has no half to choose or to score on."""
    if scored.halves_HE is None:
        return np.full(len(weights_RE), np.nan)
    size = max(1, _CHUNK // (len(scored.halves_HE) * len(scored.test_CE)))
    regrets: list[NDArray[np.float64]] = []
    for start in range(0, len(weights_RE), size):
        means_RHC = half_means(scored.test_CE, scored.halves_HE, weights_RE[start : start + size])
        elsewhere_RHC = other_half(means_RHC)
        gains_RH = ((top_shares(means_RHC) - scored.pick_shares_C) * elsewhere_RHC).sum(axis=2)
        known_RH = np.isfinite(gains_RH)
        with np.errstate(invalid="ignore"):
            regrets.append(np.where(known_RH, gains_RH, 0).sum(axis=1) / known_RH.sum(axis=1))
    return np.concatenate(regrets)


def _mean(scored: Sequence[_Scored], weights_RG: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted mean regret over searches in each replicate."""
    regrets_QR = np.stack([_regrets(one, weights_RG[:, one.groups_E]) for one in scored])
    weights_QR = np.where(
        np.isfinite(regrets_QR), np.stack([weights_RG[:, one.group] for one in scored]), 0
    )
    with np.errstate(invalid="ignore"):
        means: NDArray[np.float64] = (np.nan_to_num(regrets_QR) * weights_QR).sum(
            axis=0
        ) / weights_QR.sum(axis=0)
    return means


def _weights(
    num_groups: int, strata: Sequence[Sequence[int]], replicates: int
) -> NDArray[np.float64]:
    """How often each group is drawn in each replicate, each stratum within itself."""
    generator = np.random.default_rng(0)
    weights_RG = np.ones((replicates, num_groups))
    for members in strata:
        if len(members) > 1:
            weights_RG[:, members] = generator.multinomial(
                len(members), [1 / len(members)] * len(members), size=replicates
            )
    return weights_RG
