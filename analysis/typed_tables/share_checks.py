"""Shares of 1 among percent: 0.61 where 61 is meant."""

from collections.abc import Sequence

import polars as pl

from analysis.typed_tables.table_checks import named_recalls, outside_range

_FACTOR = 20  # a share is a hundredth of its percent; scores of one block differ by less than this


def shares_among_percent(frame: pl.DataFrame, within: Sequence[str], score: str) -> pl.DataFrame:
    """The rows that hold a share of 1 while the best of their block and K hold percent.

    A share is below 1 and below a twentieth of the best. Where all of a block are below 1 and most
    of the table is above, all of that block are shares. None is found in a table of shares.

    Args:
        frame: a table of recalls; null where one is missing.
        within: columns whose rows are compared: those of a block, and ``k`` if there is one.
        score: column of recalls.
    """
    if frame.is_empty() or outside_range(frame, score)[1] == 1:
        return frame.clear()
    value = pl.col(score)
    best = value.max().over(within) if within else value.max()
    is_below = (value < best / _FACTOR) | (best < 1)
    return frame.filter((value > 0) & (value < 1) & is_below)


def share_warning(
    frame: pl.DataFrame, by: Sequence[str], cell: Sequence[str], score: str
) -> tuple[str, ...]:
    """One warning naming the rows that hold a share of 1 among percent.

    Args:
        frame: a table with a numeric column ``k``.
        by: columns that name a block.
        cell: columns that, with ``k``, name one row.
        score: column of Recall@K.
    """
    rows = shares_among_percent(frame, [*by, "k"], score)
    if rows.is_empty():
        return ()
    return (f"shares of 1 among percent: {named_recalls(rows, cell, score)}",)
