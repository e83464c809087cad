"""Means of the rows of each cell, of tables with many rows and few cells. N = rows, G = codes."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

# Means of floats are rounded to so many significant digits, so that equal means tie.
CELL_DIGITS = 12


def cell_means(frame: pl.DataFrame, cell: Sequence[str], score: str) -> pl.DataFrame:
    """The mean score of each cell, cells in the order of their first rows.

    Every column of a cell becomes a small whole number, and all of them together one number, by
    which scores are added up in one pass, in the order of the rows. Tables whose columns hold too
    many values for that are grouped.

    Args:
        frame: table of any number of rows.
        cell: columns that together name a cell; none is null.
        score: column of floats; nulls do not count, and a cell of nulls alone has a null mean.
    """
    codes_N = _codes(frame, cell)
    if codes_N is None:
        return frame.group_by(cell, maintain_order=True).agg(pl.col(score).mean())
    num_codes = int(codes_N.max()) + 1
    first_G = np.full(num_codes, len(frame))
    first_G[codes_N[::-1]] = np.arange(len(frame))[::-1]
    scores_N = frame[score].to_numpy()  # nulls are NaN
    is_known_N = ~np.isnan(scores_N)
    counts_G = np.bincount(codes_N[is_known_N], minlength=num_codes)
    sums_G = np.bincount(codes_N[is_known_N], scores_N[is_known_N], minlength=num_codes)
    found_G = np.flatnonzero(first_G < len(frame))
    found_G = found_G[np.argsort(first_G[found_G])]
    with np.errstate(invalid="ignore"):  # 0 / 0 of cells without a score
        means = pl.Series(score, sums_G[found_G] / counts_G[found_G]).fill_nan(None)
    return frame.select(cell)[first_G[found_G]].with_columns(means)


def _codes(frame: pl.DataFrame, cell: Sequence[str]) -> NDArray[np.int64] | None:
    """One whole number for each cell; None if there would be more numbers than rows."""
    if frame.is_empty():
        return None
    texts = selectors.string().cast(pl.Categorical).to_physical()
    columns = frame.select(cell).with_columns(texts)
    codes_N = np.zeros(len(frame), dtype=np.int64)
    num_codes = 1
    for column in columns:
        if not column.dtype.is_integer() or column.has_nulls():
            return None
        values_N = column.to_numpy()
        low, high = int(values_N.min()), int(values_N.max())
        num_codes *= high - low + 1
        if num_codes > len(frame):
            return None
        codes_N *= high - low + 1
        codes_N += values_N.astype(np.int64) - low
    return codes_N
