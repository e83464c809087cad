"""Does validation order configs as test does? C configs, E test runs, H halves.

Only within one block, loss, protocol, repeat and fold: folds validate on different classes, so
their levels differ for reasons that have nothing to do with configs.

Assumed: configs are a sample of others drawn alike (true of random search; a sampler that learns
concentrates on the good region, where order is harder). Validation and test of one run are
correlated, so agreement with own runs is that of networks, and higher than that of configs.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.estimates.confidence_intervals import t_reach
from analysis.estimates.kendall_tau import kendall_tau
from analysis.estimates.split_halves import MEAN_DIGITS, all_halves, half_means, top_shares
from analysis.scores.protocol_run_checks import SEARCH
from analysis.selection.selection_candidates import Candidates, config_candidates
from podium.errors import PodiumError

_TOP = 5
_TEST_RUNS = ("other", "own")

_SCORES = ("tau", "tau_low", "tau_high", "weighted_tau", "top_1", "top_5", "ceiling", "at_ceiling")
_COUNTS = ("num_configs", "num_missing", "num_pruned", "num_failed", "num_runs")
_SCHEMA = {
    **dict.fromkeys(SEARCH[:3], pl.String),
    **dict.fromkeys(("repeat", "fold"), pl.Int64),
    **dict.fromkeys(_SCORES, pl.Float64),
    **dict.fromkeys(_COUNTS, pl.Int64),
}


def rank_agreement(
    runs: pl.DataFrame, *, test_runs: str = "other", tested: pl.DataFrame | None = None
) -> pl.DataFrame:
    """How validation and test agree over the configs of each search and fold.

    Args:
        runs: table of runs from ``checked_runs``.
        test_runs: ``other``: test is the mean over runs that the search did not see; ``own``:
            over its own. Runs that fewer than half of the configs have are left out.
        tested: table of other test scores, as in ``config_candidates``; its folds are averaged.

    Returns:
        ``block``, ``loss``, ``protocol``, ``repeat``, ``fold`` (null: folds averaged), then

        - ``tau``: Kendall's tau-b, with ``tau_low`` to ``tau_high``, 95 %: jackknife over configs
          and Student's t (null with fewer than four configs);
        - ``weighted_tau``: hyperbolic weights, so that disagreement at the top counts more;
        - ``top_1``: 1 if validation's pick is test's best, 0 if not; a share where picks tie;
        - ``top_5``: share of validation's best five among test's; null with five or fewer;
        - ``ceiling``: mean tau between two halves of all test runs, which not even test itself
          exceeds with so few runs; null with one run;
        - ``at_ceiling``: share of configs within one standard error of test's best, which do not
          differ significantly with so few runs; null with one run. The error is that of a mean
          over runs, after what all configs share in a run.

        ``num_configs`` (compared), ``num_missing`` (completed, but lacking a test run),
        ``num_pruned``, ``num_failed`` and ``num_runs``. All scores are null with fewer than two
        configs, taus also where configs are all equal in validation or in test.

    Raises:
        PodiumError: ``test_runs`` is not known.
    """
    if test_runs not in _TEST_RUNS:
        raise PodiumError(f"test runs are one of {', '.join(_TEST_RUNS)}; got {test_runs!r}")
    folds = runs["fold"].drop_nulls().unique().sort().to_list()
    rows = []
    for fold in (None, *folds):
        within = runs if fold is None else runs.filter(pl.col("fold") == fold)
        for candidates in config_candidates(within, tested=tested):
            search = dict(zip(SEARCH, (*candidates.place, candidates.unit), strict=True))
            rows.append({**search, "fold": fold, **_agreement(candidates, test_runs)})
    return pl.DataFrame(rows, schema=_SCHEMA).sort(*SEARCH, "fold")


def weighted_tau(x: Sequence[float], y: Sequence[float]) -> float:
    """Weighted tau in [-1, 1]: a pair weighs 1/(1 + rank) of each member, rank 0 being best.

    The mean of ranking by x (ties by y) and by y (ties by x); NaN with fewer than two pairs, or
    where one score is constant. Source: Vigna 2015, eq. 4, with additive hyperbolic weights.
    """
    values_C, others_C = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    signs_CC = np.sign(values_C[:, None] - values_C)
    others_CC = np.sign(others_C[:, None] - others_C)
    found = []
    for first, second in ((values_C, others_C), (others_C, values_C)):
        weights_C = 1 / (1 + np.argsort(np.lexsort((second, first))[::-1]))
        weights_CC = weights_C[:, None] + weights_C
        scale = np.sqrt((weights_CC * signs_CC**2).sum() * (weights_CC * others_CC**2).sum())
        total = (weights_CC * signs_CC * others_CC).sum()
        found.append(total / scale if scale > 0 else np.nan)
    return float(np.mean(found))


def compared_configs_and_runs(
    candidates: Candidates, test_runs: str
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which configs (C,) are compared over which test runs (E,): those that have them all.

    Candidates that did not complete in the search have no score to compare.

    Args:
        candidates: configs of one search.
        test_runs: ``other`` or ``own``, as in ``rank_agreement``.
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


def _agreement(candidates: Candidates, test_runs: str) -> dict[str, float | int | None]:
    val_C, test_CE = compared_scores(candidates, test_runs)
    found: dict[str, float | int | None] = {
        "num_configs": len(val_C),
        "num_missing": int(np.isfinite(candidates.val_C).sum()) - len(val_C),
        "num_pruned": candidates.num_pruned,
        "num_failed": candidates.num_failed,
        "num_runs": test_CE.shape[1],
    }
    if len(val_C) < 2:
        return found
    means_C = test_CE.mean(axis=1).round(MEAN_DIGITS)
    found |= _tau_interval(val_C, means_C)
    found["weighted_tau"] = _known(weighted_tau(val_C.tolist(), means_C.tolist()))
    found["top_1"] = float(top_shares(val_C)[means_C == means_C.max()].sum())
    if len(val_C) > _TOP:
        found["top_5"] = float((_top_chance(val_C) * _top_chance(means_C)).sum() / _TOP)
    if test_CE.shape[1] > 1:
        found["ceiling"] = noise_ceiling(test_CE)
        found["at_ceiling"] = share_at_ceiling(test_CE)
    return found


def _tau_interval(
    x_C: NDArray[np.float64], y_C: NDArray[np.float64]
) -> dict[str, float | int | None]:
    """Kendall's tau-b with its jackknife interval; null where undefined."""
    tau = _known(kendall_tau(x_C.tolist(), y_C.tolist()))
    found: dict[str, float | int | None] = {"tau": tau}
    num = len(x_C)
    if tau is None or num < 4:
        return found
    x_CC, y_CC = np.sign(x_C[:, None] - x_C), np.sign(y_C[:, None] - y_C)
    # Leaving a config out takes its row and its column from each sum.
    both_C, only_x_C, only_y_C = (
        pairs_CC.sum() - 2 * pairs_CC.sum(axis=1) for pairs_CC in (x_CC * y_CC, x_CC**2, y_CC**2)
    )
    scale_C = np.sqrt(only_x_C * only_y_C)
    if (scale_C == 0).any():
        return found
    without_C = both_C / scale_C
    error = np.sqrt((num - 1) * without_C.var())
    half = t_reach(num - 1) * error
    return found | {"tau_low": max(-1.0, tau - half), "tau_high": min(1.0, tau + half)}


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def _top_chance(scores_C: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of each to be among the best five when ties are broken at random."""
    better_C = (scores_C > scores_C[:, None]).sum(axis=1)
    tied_C = (scores_C == scores_C[:, None]).sum(axis=1)
    chances: NDArray[np.float64] = np.clip((_TOP - better_C) / tied_C, 0, 1)
    return chances


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
