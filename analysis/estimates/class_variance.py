"""How far recall moves with the choice of classes: variances over classes, without resampling.

G groups, M members (losses, or configs) evaluated on the same K classes.

Recall is a ratio, hits over queries, so its variance over classes is that of the residuals
e_k = (hits_k - recall x queries_k) K / queries, summed: sum e^2 / (K (K - 1)) (Cochran 1977,
chapter 6). Scores of members on the same classes are correlated; what they do not share is
the mean over pairs of half the variance of their difference.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

_ROUNDING = 1e-24


def class_variance(
    hits: Iterable[pl.DataFrame], *, group: Sequence[str], member: Sequence[str]
) -> tuple[float | None, int] | None:
    """Variance of a recall, which is a share, over draws of classes.

    Args:
        hits: tables with one row per class of each member, or several, which are summed:
            ``class_id``, ``queries`` (1 or more) and ``hits``, and the columns of ``group`` and
            ``member``. A group is in one of them, and they are in the order of groups.
        group: columns that name a group, whose members share one set of classes. Members that
            lack a class which others of their group have are left out.
        member: columns that name a member within its group.

    Returns:
        The part of it that members do not share, mean over groups, None if no group has two; and
        the fewest classes of any group. None instead if no group has two classes.
    """
    groups = [found for table in hits for found in _groups(table, group, member)]
    if not groups:
        return None
    own = [found for found, _ in groups if found is not None]
    return sum(own) / len(own) if own else None, min(num_classes for _, num_classes in groups)


def _groups(
    hits: pl.DataFrame, group: Sequence[str], member: Sequence[str]
) -> list[tuple[float | None, int]]:
    keys = [*group, *member]
    summed = (
        hits.group_by(*keys, "class_id")
        .agg(pl.col("queries", "hits").sum())
        .with_columns(pl.col("class_id").n_unique().over(group).alias("num_classes"))
        .filter(pl.len().over(keys) == pl.col("num_classes"), pl.col("num_classes") > 1)
        .sort(*keys, "class_id")
    )
    return [_of_group(part, keys) for part in summed.partition_by(group, maintain_order=True)]


def _of_group(rows: pl.DataFrame, keys: list[str]) -> tuple[float | None, int]:
    num_members = rows.select(keys).n_unique()
    shape = num_members, len(rows) // num_members
    hits_MK = rows["hits"].to_numpy().reshape(shape).astype(np.float64)
    queries_MK = rows["queries"].to_numpy().reshape(shape).astype(np.float64)
    num_classes = shape[1]
    queries_M1 = queries_MK.sum(axis=1, keepdims=True)
    recalls_M1 = hits_MK.sum(axis=1, keepdims=True) / queries_M1
    rests_MK = (hits_MK - recalls_M1 * queries_MK) * num_classes / queries_M1
    squares_K: NDArray[np.float64] = (rests_MK**2).mean(axis=0)
    own = None
    if num_members > 1:
        own_K = rests_MK.var(axis=0, ddof=1)
        # Equal members differ by rounding.
        own_K = np.where(own_K <= _ROUNDING * squares_K.max(), 0.0, own_K)
        own = float(own_K.mean()) / (num_classes - 1)
    return own, num_classes
