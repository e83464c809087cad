"""Recalls far from what other rows of their data set suggest: is a digit misprinted?

Recalls at two K go together: over the losses of one data set the log odds of Recall@2 lie close to
a line in those of Recall@1. A wrong digit leaves the line even where recall still grows with K.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.audit.findings import Finding
from analysis.audit.score_columns import K, ScoreColumns
from analysis.typed_tables.table_checks import outside_range

_FEWEST_ROWS = 8  # of a line that half of them may leave
_FAR = 6.0  # robust standard deviations from the line
_FAR_PERCENT = 3.0  # and so many points of 100: published rows leave it by one or two
_MOST_SLOPES = 200  # rows between which slopes are taken; each pair of them has one
_NORMAL = 1.4826  # standard deviations per median absolute deviation of normal values
_BEFORE, _K_BEFORE = "__before", "__k_before"


def outlying_recalls(frame: pl.DataFrame, columns: ScoreColumns) -> Iterator[Finding]:
    """A note for each recall that its row's recall at the K before does not suggest.

    Per data set and two K that follow each other, over its rows: the line through the log odds by
    Theil (1950) and Sen (1968), which half of the rows may leave. A note needs 8 rows, a residual
    of 6 robust standard deviations (median absolute deviation) and 3 points. Which of the two
    recalls is wrong is not known. Rows that fall, or leave 0 to 100 %, are findings, and no notes.

    Args:
        frame: one score per row, at most one for each of ``columns.keys``; null where missing. The
            first column of ``columns.by`` names the data set.
        columns: roles of the columns of the frame.
    """
    if not columns.has_k:
        return
    top = outside_range(frame, columns.score)[1]
    pairs = _pairs_of_k(frame, columns, top)
    for _, rows in pairs.group_by(columns.by[0], _K_BEFORE, K, maintain_order=True):
        if len(rows) < _FEWEST_ROWS:
            continue
        before_N, score_N = rows[_BEFORE].to_numpy(), rows[columns.score].to_numpy()
        expected_N, is_far_N = _off_the_line(before_N / top, score_N / top)
        for index in np.flatnonzero(is_far_N):
            row = rows.row(int(index), named=True)
            message = (
                f"R@{row[K]} = {row[columns.score]:g} where R@{row[_K_BEFORE]} ="
                f" {row[_BEFORE]:g} goes with about {top * expected_N[index]:.3g} in the other"
                " rows of its data set: is a digit of one of them wrong?"
            )
            yield Finding(kind="outlier", where=columns.location(row), message=message)


def _pairs_of_k(frame: pl.DataFrame, columns: ScoreColumns, top: float) -> pl.DataFrame:
    """Rows with their recall at the K before, both within 0 and ``top`` and none falling."""
    score = pl.col(columns.score)
    within = frame.filter(score.is_between(0, top, closed="none")).sort(columns.keys)
    pairs = within.with_columns(
        score.shift().over(columns.cell).alias(_BEFORE),
        pl.col(K).shift().over(columns.cell).alias(_K_BEFORE),
    )
    return pairs.filter(score >= pl.col(_BEFORE))


def _off_the_line(
    before_N: NDArray[np.float64], score_N: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The recalls that the line gives, and which rows are far from it; recalls from 0 to 1."""
    x_N, y_N = _log_odds(before_N), _log_odds(score_N)
    slope = _median_slope(x_N, y_N)
    intercept = np.median(y_N - slope * x_N)
    line_N = slope * x_N + intercept
    residuals_N = np.abs(y_N - line_N)
    expected_N = 1 / (1 + np.exp(-line_N))
    is_far_N = residuals_N > _FAR * _NORMAL * np.median(residuals_N)
    is_far_N &= np.abs(score_N - expected_N) > _FAR_PERCENT / 100
    return expected_N, is_far_N


def _log_odds(shares_N: NDArray[np.float64]) -> NDArray[np.float64]:
    odds: NDArray[np.float64] = np.log(shares_N / (1 - shares_N))
    return odds


def _median_slope(x_N: NDArray[np.float64], y_N: NDArray[np.float64]) -> float:
    """The median of the slopes of all pairs of rows, of at most 200 rows spread evenly over x."""
    order = np.argsort(x_N, kind="stable")
    kept = order[np.linspace(0, len(order) - 1, min(len(order), _MOST_SLOPES)).astype(int)]
    x_M, y_M = x_N[kept], y_N[kept]
    first, second = np.triu_indices(len(kept), k=1)
    run_P, rise_P = x_M[second] - x_M[first], y_M[second] - y_M[first]
    return float(np.median(rise_P[run_P > 0] / run_P[run_P > 0])) if (run_P > 0).any() else 1.0
