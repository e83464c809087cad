"""Does validation order configs as test does? C configs, E test runs, H halves.

Only within one block, loss, protocol and repeat: others validate on different classes, so their
levels differ for reasons that have nothing to do with configs.

Assumed: configs are a sample of others drawn alike (true of random search; a sampler that learns
concentrates on the good region, where order is harder). Validation and test of one run are
correlated, so agreement with own runs is that of networks, and higher than that of configs.
"""

import numpy as np
from numpy.typing import NDArray

from analysis.estimates.kendall_tau import kendall_tau
from analysis.estimates.split_halves import MEAN_DIGITS, all_halves, half_means
from analysis.selection.selection_candidates import Candidates


def compared_configs_and_runs(
    candidates: Candidates, test_runs: str
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which configs (C,) are compared over which test runs (E,): those that have them all.

    Candidates that did not complete in the search have no score to compare.

    Args:
        candidates: configs of one search.
        test_runs: ``other``: runs that the search did not see; ``own``: its own. Runs that fewer
            than half of the configs have are left out.
    """
    used_E = candidates.is_own_E if test_runs == "own" else ~candidates.is_own_E
    is_known_CE = np.isfinite(candidates.test_CE)
    used_E = used_E & (is_known_CE.mean(axis=0) >= 0.5)
    is_validated_C = np.isfinite(candidates.val_C)
    return is_known_CE[:, used_E].all(axis=1) & used_E.any() & is_validated_C, used_E


def compared_scores(
    candidates: Candidates, test_runs: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores of ``compared_configs_and_runs`` on validation (C,) and test (C, E)."""
    kept_C, used_E = compared_configs_and_runs(candidates, test_runs)
    return candidates.val_C[kept_C], candidates.test_CE[kept_C][:, used_E]


def noise_ceiling(
    test_CE: NDArray[np.float64], *, most_halves: int = 60, seed: int = 0
) -> float | None:
    """Mean tau between two halves of the test runs, of which there are two or more.

    None where configs are all equal in every half.
    """
    num_runs = test_CE.shape[1]
    halves_HE = all_halves(num_runs, most=most_halves, seed=seed)
    means_HC = half_means(test_CE, halves_HE, np.ones((1, num_runs)))[0]
    first, second = np.split(means_HC, 2)
    taus = np.array(
        [kendall_tau(a.tolist(), b.tolist()) for a, b in zip(first, second, strict=True)]
    )
    return None if np.isnan(taus).all() else float(np.nanmean(taus))


def share_at_ceiling(test_CE: NDArray[np.float64]) -> float:
    """Share of configs within one standard error of the best mean, over two or more test runs."""
    means_C = test_CE.mean(axis=1).round(MEAN_DIGITS)
    return float((means_C >= means_C.max() - _standard_error(test_CE)).mean())


def _standard_error(test_CE: NDArray[np.float64]) -> float:
    """Of a config's mean over runs, after what all configs share in a run."""
    num_configs, num_runs = test_CE.shape
    rest_CE = test_CE - test_CE.mean(axis=0) - test_CE.mean(axis=1, keepdims=True) + test_CE.mean()
    variance = (rest_CE**2).sum() / ((num_configs - 1) * (num_runs - 1))
    return float(np.sqrt(variance / num_runs))
