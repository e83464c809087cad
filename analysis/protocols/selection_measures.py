"""Measures of each choice of a config, by test runs that the choice did not see.

C configs, E test runs.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.estimates.kendall_tau import kendall_tau
from podium.analysis.estimates.split_halves import (
    MEAN_DIGITS,
    all_halves,
    half_means,
    other_half,
    top_shares,
)
from podium.analysis.hypothesis_tests.group_means import Cells
from podium.analysis.protocols.selection_candidates import Candidates, without_repeat
from podium.analysis.protocols.selection_regret import MOST_HALVES, cross_fitted_regret
from podium.analysis.scores.protocol_run_checks import SEARCH

CHOICE_MEASURES = ("picked_test", "regret", "tau", "top_1", "overtuning")
CEILINGS = ("ceiling", "at_ceiling")

_SCHEMA = {
    **dict.fromkeys(SEARCH[:3], pl.String),
    "repeat": pl.Int64,
    **dict.fromkeys((*CHOICE_MEASURES, *CEILINGS), pl.Float64),
    "num_configs": pl.Int64,
    "num_runs": pl.Int64,
}


def choice_cells(candidate_sets: Sequence[Candidates]) -> Cells:
    """One row per search, over all test runs but its own.

    Returns:
        ``picked_test``: mean test score of what validation picked, ties sharing; ``regret``:
        cross-fitted (null with fewer than two test runs); ``tau``: Kendall's, of validation and
        mean test; ``top_1``: 1 if the pick is the best candidate on mean test, a share where
        picks tie;
        ``overtuning``: cross-fitted, of the last incumbent (null with fewer than two test runs);
        ``ceiling`` and ``at_ceiling`` as in ``rank_agreement`` (of the whole study only);
        ``num_configs`` and ``num_runs`` compared. All null without a test run besides its own.
    """
    repeats = sorted({candidates.unit for candidates in candidate_sets})
    cells: dict[int | None, pl.DataFrame] = {None: _frame(candidate_sets, with_ceilings=True)}
    return cells | {j: _frame(without_repeat(candidate_sets, j)) for j in repeats}


def _frame(candidate_sets: Sequence[Candidates], *, with_ceilings: bool = False) -> pl.DataFrame:
    rows = [
        {
            **dict(zip(SEARCH, (*candidates.place, candidates.unit), strict=True)),
            **_measures(candidates),
            **(_ceilings(candidates) if with_ceilings else {}),
        }
        for candidates in candidate_sets
    ]
    return pl.DataFrame(rows, schema=_SCHEMA)


def _measures(candidates: Candidates) -> dict[str, float | int | None]:
    used_E, kept_C = candidates.compared()
    found: dict[str, float | int | None] = {
        "num_configs": int(kept_C.sum()) if used_E.any() else 0,
        "num_runs": int(used_E.sum()),
        "regret": cross_fitted_regret(candidates),
        "overtuning": _overtuning(candidates),
    }
    if used_E.any():
        shares_C = candidates.pick_shares_C
        picks_CE = candidates.test_CE[shares_C > 0][:, used_E]
        found["picked_test"] = float(shares_C[shares_C > 0] @ picks_CE.mean(axis=1))
        if kept_C.sum() > 1:
            means_C = candidates.test_CE[kept_C][:, used_E].mean(axis=1).round(MEAN_DIGITS)
            found["top_1"] = float(shares_C[kept_C][means_C == means_C.max()].sum())
    val_C, test_CE = _compared_scores(candidates)
    if len(val_C) > 1:
        tau = kendall_tau(val_C.tolist(), test_CE.mean(axis=1).round(MEAN_DIGITS).tolist())
        found["tau"] = None if np.isnan(tau) else tau
    return found


def _ceilings(candidates: Candidates) -> dict[str, float | None]:
    val_C, test_CE = _compared_scores(candidates)
    if len(val_C) < 2 or test_CE.shape[1] < 2:
        return {}
    means_C = test_CE.mean(axis=1).round(MEAN_DIGITS)
    is_near_C = means_C >= means_C.max() - _standard_error(test_CE)
    return {"ceiling": _noise_ceiling(test_CE), "at_ceiling": float(is_near_C.mean())}


def _overtuning(candidates: Candidates) -> float | None:
    """What a search lost again on test by going on: its best incumbent minus its last one.

    The best is chosen on half of the test runs that the search did not see and that all incumbents
    have, and both are scored on the other half, so it may be negative. Source: Schneider et al.
    2025 (arXiv 2506.19540).
    """
    before = np.concatenate([[-np.inf], np.maximum.accumulate(candidates.val_C)[:-1]])
    test_KE = candidates.test_CE[candidates.val_C > before]  # K incumbents, in their order
    test_KE = test_KE[:, np.isfinite(test_KE).all(axis=0) & ~candidates.is_own_E]
    num_runs = test_KE.shape[1]
    if num_runs < 2:
        return None
    halves_HE = all_halves(num_runs, most=MOST_HALVES, seed=0)
    means_HK = half_means(test_KE, halves_HE, np.ones((1, num_runs)))[0]
    elsewhere_HK = other_half(means_HK[None])[0]
    best_H = (top_shares(means_HK) * elsewhere_HK).sum(axis=1)
    return float((best_H - elsewhere_HK[:, -1]).mean())


def _compared_scores(
    candidates: Candidates,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Validation (C,) and test (C, E) of the configs that have all test runs not seen by a search.

    Agreement of the two assumes that configs are drawn alike. Left out are configs that did not
    complete in the search, and runs that fewer than half of the configs have.
    """
    is_known_CE = np.isfinite(candidates.test_CE)
    used_E = ~candidates.is_own_E & (is_known_CE.mean(axis=0) >= 0.5)
    is_validated_C = np.isfinite(candidates.val_C)
    kept_C = is_known_CE[:, used_E].all(axis=1) & used_E.any() & is_validated_C
    return candidates.val_C[kept_C], candidates.test_CE[kept_C][:, used_E]


def _noise_ceiling(test_CE: NDArray[np.float64]) -> float | None:
    """Mean tau between two halves of the test runs, of which there are two or more.

    None where configs are all equal in every half.
    """
    num_runs = test_CE.shape[1]
    halves_HE = all_halves(num_runs, most=MOST_HALVES, seed=0)
    means_HC = half_means(test_CE, halves_HE, np.ones((1, num_runs)))[0]
    first, second = np.split(means_HC, 2)
    taus = np.array(
        [kendall_tau(a.tolist(), b.tolist()) for a, b in zip(first, second, strict=True)]
    )
    return None if np.isnan(taus).all() else float(np.nanmean(taus))


def _standard_error(test_CE: NDArray[np.float64]) -> float:
    """Of a config's mean over runs, after what all configs share in a run."""
    num_configs, num_runs = test_CE.shape
    rest_CE = test_CE - test_CE.mean(axis=0) - test_CE.mean(axis=1, keepdims=True) + test_CE.mean()
    variance = (rest_CE**2).sum() / ((num_configs - 1) * (num_runs - 1))
    return float(np.sqrt(variance / num_runs))
