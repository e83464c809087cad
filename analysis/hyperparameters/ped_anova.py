"""PED-ANOVA: importance for being among the best. N trials, R replicates, G cells of a grid.

Watanabe, Bansal and Hutter 2023 (arXiv 2304.10255), with the regimes of conditional
hyperparameters of arXiv 2601.20800, algorithm 1. The density estimate is that of optuna's
``PedAnovaImportanceEvaluator``, which the tests hold this against. Here all replicates of a
bootstrap or of a permutation are computed at once: a replicate is a weight for each trial.
"""

import numpy as np
from numpy.typing import NDArray

_LEAST_IN_REGIME = 2
_LEAST_SIGMA = 0.5 / 1.64  # cells: nine tenths of a kernel lie within one
_FLOOR = 1e-12
_CHUNK = 256  # replicates computed at once

Floats = NDArray[np.float64]


def best_mask(scores_N: Floats, weights_RN: Floats, quantile: float) -> NDArray[np.bool_]:
    """Which trials (R, N) are among the best ``quantile`` of each replicate; ties are all in.

    Args:
        scores_N: higher is better; finite.
        weights_RN: how often each trial was drawn, whole numbers; rows with equal sums.
        quantile: share of the trials that are the best, in (0, 1].
    """
    order_N = np.argsort(-scores_N, kind="stable")
    needed_R = np.ceil(quantile * weights_RN.sum(axis=1))
    reached_RN = np.cumsum(weights_RN[:, order_N], axis=1) >= needed_R[:, None]
    cutoff_R = scores_N[order_N][reached_RN.argmax(axis=1)]
    best: NDArray[np.bool_] = scores_N >= cutoff_R[:, None]
    return best


def variance_shares(
    cells_N: NDArray[np.intp],
    num_cells: int,
    *,
    is_choice: bool,
    weights_RN: Floats,
    best_RN: NDArray[np.bool_],
) -> Floats:
    """Share of the variance of "is among the best" that one hyperparameter explains, (R,).

    With g the share of trials that are best and D the Pearson divergence between where these lie
    and where all lie, optuna's number is g^2 D. The variance of "is among the best" is g (1 - g),
    so the share is g D / (1 - g); it has no unit, is comparable between searches, and its order
    is optuna's. 0 where all trials are best, or the hyperparameter exists in fewer than two.

    Args:
        cells_N: index of each trial's cell of the grid; -1 where the hyperparameter does not
            exist.
        num_cells: number G of cells.
        is_choice: whether the cells have no order.
        weights_RN: how often each trial was drawn.
        best_RN: which trials are among the best, from ``best_mask``.
    """
    parts = [
        _shares(
            cells_N,
            num_cells,
            is_choice,
            weights_RN[start : start + _CHUNK],
            best_RN[start : start + _CHUNK],
        )
        for start in range(0, len(weights_RN), _CHUNK)
    ]
    return np.concatenate(parts)


def _shares(
    cells_N: NDArray[np.intp],
    num_cells: int,
    is_choice: bool,
    weights_RN: Floats,
    best_RN: NDArray[np.bool_],
) -> Floats:
    exists_N = cells_N >= 0
    all_R = weights_RN.sum(axis=1)
    best_weights_RN = weights_RN * best_RN
    best_R = best_weights_RN.sum(axis=1)
    one_hot_NG = np.zeros((int(exists_N.sum()), num_cells))
    one_hot_NG[np.arange(len(one_hot_NG)), cells_N[exists_N]] = 1
    counts_RG = weights_RN[:, exists_N] @ one_hot_NG
    best_counts_RG = best_weights_RN[:, exists_N] @ one_hot_NG
    in_regime_R, best_in_regime_R = counts_RG.sum(axis=1), best_counts_RG.sum(axis=1)
    density = _choice_density if is_choice else _number_density
    is_first_R = (weights_RN == weights_RN[0]).all(axis=1)  # as in permutations
    other_R = np.flatnonzero(~is_first_R)
    number_R = np.where(is_first_R, 0, np.cumsum(~is_first_R))
    everywhere_RG = (density(counts_RG[[0, *other_R]]) + _FLOOR)[number_R]
    where_best_RG = density(best_counts_RG) + _FLOOR
    divergence_R = (everywhere_RG * (where_best_RG / everywhere_RG - 1) ** 2).sum(axis=1)
    known_R = (in_regime_R >= _LEAST_IN_REGIME) & (best_in_regime_R > 0) & (best_R < all_R)
    with np.errstate(divide="ignore", invalid="ignore"):
        regime_R = (best_in_regime_R / best_R) ** 2 / (in_regime_R / all_R)
        shares_R: Floats = regime_R * divergence_R * best_R / (all_R - best_R)
    return np.where(known_R, shares_R, 0.0)


def _choice_density(counts_RG: Floats) -> Floats:
    """Each trial and the prior share a weight; a trial's kernel leaves a little to others."""
    num_R1 = counts_RG.sum(axis=1, keepdims=True)
    num_kernels_R1 = (counts_RG > 0).sum(axis=1, keepdims=True) + 1.0
    size = counts_RG.shape[1]
    spread_R1 = 1 / num_kernels_R1
    kernel_total_R1 = 1 + size * spread_R1
    observed_RG = (counts_RG + num_R1 * spread_R1) / kernel_total_R1
    density: Floats = (observed_RG + 1 / size) / (num_R1 + 1)
    return density


def _number_density(counts_RG: Floats) -> Floats:
    """Normal kernels at the cells, cut at the ends of the grid, and one broad prior."""
    size = counts_RG.shape[1]
    num_R = counts_RG.sum(axis=1)
    step_RK = np.diff(_edges(_bandwidths(counts_RG), size), axis=1)
    # Entry k of a row is the mass of a kernel k - (G - 1) cells away from its middle.
    totals_RG = np.cumsum(step_RK, axis=1)
    before_RK = np.concatenate([np.zeros((len(totals_RG), 1)), totals_RG], axis=1)
    # From the last cell to the first: kernels are cut at the ends of the grid.
    within_RG = before_RK[:, size : 2 * size] - before_RK[:, :size]
    scaled_RG = counts_RG[:, ::-1] / within_RG
    observed_RG = np.zeros_like(counts_RG)
    for kernel in np.flatnonzero(counts_RG[:, ::-1].any(axis=0)):
        observed_RG += step_RK[:, kernel : kernel + size] * scaled_RG[:, kernel, None]
    prior_G = np.diff(_edges(np.array([float(size)]), size, middle=(size - 1) / 2)[0])
    density: Floats = (observed_RG + prior_G / prior_G.sum()) / (num_R + 1)[:, None]
    return density


def _edges(sigmas_R: Floats, size: int, middle: float | None = None) -> Floats:
    """Normal distribution at the edges of cells; without a middle, relative to any of them."""
    from scipy.special import ndtr

    if middle is None:
        edges = np.arange(2 * size) - (size - 1) - 0.5
    else:
        edges = np.arange(size + 1) - 0.5 - middle
    below: Floats = ndtr(edges / sigmas_R[:, None])
    return below


def _bandwidths(counts_RG: Floats) -> Floats:
    """Scott's rule on the cells, with quartiles against outliers (R,), as optuna has it."""
    cells_G = np.arange(counts_RG.shape[1])
    num_R = counts_RG.sum(axis=1)
    safe_R = np.maximum(num_R, 1)
    mean_R = counts_RG @ cells_G / safe_R
    squares_R = (counts_RG * (cells_G - mean_R[:, None]) ** 2).sum(axis=1)
    sigma_R = np.sqrt(squares_R / np.maximum(1, num_R - 1))
    reached_RG = np.cumsum(counts_RG, axis=1)
    low_R = (reached_RG >= np.maximum(num_R // 4, 1)[:, None]).argmax(axis=1)
    high_R = (reached_RG > (num_R * 3 // 4)[:, None]).argmax(axis=1)
    narrow_R = np.minimum((high_R - low_R) / 1.34, sigma_R)
    scott: Floats = np.maximum(1.059 * narrow_R * safe_R**-0.2, _LEAST_SIGMA)
    return scott
