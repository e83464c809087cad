"""Does a longer search still help on test? C candidates, E test runs, K incumbents, H halves.

Overtuning at a step of a search is the best test score of any incumbent so far minus that of the
present incumbent: what was lost again by choosing by validation. Source: Schneider et al.
2025 (arXiv 2506.19540).
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.estimates.split_halves import all_halves, half_means, other_half, top_shares
from analysis.scores.protocol_run_checks import SEARCH
from analysis.selection.selection_candidates import Candidates, config_candidates
from podium.errors import PodiumError

_END = {
    "index": pl.Int64,
    "incumbent": pl.String,
    "val": pl.Float64,
    "test": pl.Float64,
    "overtuning": pl.Float64,
    "cross_fitted": pl.Float64,
    "num_runs": pl.Int64,
}


def overtuning_curve(runs: pl.DataFrame, *, tested: pl.DataFrame | None = None) -> pl.DataFrame:
    """One row for each time a search found a new incumbent (the earlier one keeps a tie).

    Between rows nothing changes. ``test`` is a mean over the test runs that all incumbents of the
    search have; the maximum of such means is optimistic (selection bias), so ``overtuning`` is too
    large, most of all where they are few. ``cross_fitted`` chooses the best incumbent so far on
    half of the runs that the search did not see and scores on the other half, and may be negative.

    Args:
        runs: table of runs from ``checked_runs``, with ``index`` in every completed run of a
            search.
        tested: table of other test scores, as in ``config_candidates``.

    Returns:
        ``block``, ``loss``, ``protocol``, ``repeat``, ``index``, ``incumbent``, ``val``,
        ``test`` and ``overtuning`` (null without a test run that all incumbents have),
        ``cross_fitted`` (null with fewer than two others) and ``num_runs``, those of ``test``.

    Raises:
        PodiumError: a completed run of a search has no index, so there is no order.
    """
    rows: list[dict[str, object]] = []
    for candidates in config_candidates(runs, tested=tested):
        if None in candidates.indices:
            raise PodiumError(
                "an overtuning curve needs the order of a search; column 'index' is empty for a "
                f"config of {'/'.join(candidates.place)}, repeat {candidates.unit}"
            )
        search = dict(zip(SEARCH, (*candidates.place, candidates.unit), strict=True))
        rows += [search | row for row in incumbent_rows(candidates)]
    schema = {**dict.fromkeys(SEARCH[:3], pl.String), "repeat": pl.Int64, **_END}
    return pl.DataFrame(rows, schema=schema)


def incumbent_rows(
    candidates: Candidates, *, most_halves: int = 60, seed: int = 0
) -> list[dict[str, object]]:
    """The rows of one search, as ``overtuning_curve`` says; what is null there is left out."""
    before = np.concatenate([[-np.inf], np.maximum.accumulate(candidates.val_C)[:-1]])
    incumbents_K = np.flatnonzero(candidates.val_C > before)
    test_KE = candidates.test_CE[incumbents_K]
    is_shared_E = np.isfinite(test_KE).all(axis=0)
    fresh_KE = test_KE[:, is_shared_E & ~candidates.is_own_E]
    rows: list[dict[str, object]] = [
        {
            "index": candidates.indices[c],
            "incumbent": candidates.candidates[c],
            "val": float(candidates.val_C[c]),
            "num_runs": int(is_shared_E.sum()),
        }
        for c in incumbents_K
    ]
    if is_shared_E.any():
        means_K = test_KE[:, is_shared_E].mean(axis=1)
        for row, mean, best in zip(rows, means_K, np.maximum.accumulate(means_K), strict=True):
            row |= {"test": float(mean), "overtuning": float(best - mean)}
    if fresh_KE.shape[1] > 1:
        halves_HE = all_halves(fresh_KE.shape[1], most=most_halves, seed=seed)
        for row, overtuned in zip(rows, _cross_fitted(fresh_KE, halves_HE), strict=True):
            row["cross_fitted"] = float(overtuned)
    return rows


def _cross_fitted(test_KE: NDArray[np.float64], halves_HE: NDArray[np.bool_]) -> list[np.floating]:
    """Overtuning at each incumbent, the best so far chosen on one half and scored on another."""
    means_HK = half_means(test_KE, halves_HE, np.ones((1, test_KE.shape[1])))[0]
    elsewhere_HK = other_half(means_HK[None])[0]
    return [
        (
            (top_shares(means_HK[:, : k + 1]) * elsewhere_HK[:, : k + 1]).sum(axis=1)
            - elsewhere_HK[:, k]
        ).mean()
        for k in range(len(test_KE))
    ]
