"""Means of a statistic over what is independent, such as blocks."""

from collections.abc import Sequence

import polars as pl

from analysis.intervals import t_interval
from orchestrator.results.errors import PodiumError

__all__ = ["unit_means"]


def unit_means(
    frame: pl.DataFrame, values: Sequence[str], *, by: Sequence[str], unit: Sequence[str]
) -> pl.DataFrame:
    """Each group's mean over units, with a 95 % interval over them (Student's t).

    Rows of one unit are averaged first, each unit then counts once. Assumed: units are independent
    and stand for others of their kind, so a unit shares no runs with another: blocks do not; the
    repeats of a search do, if they judge the same configs or are scored by the same test runs.

    Args:
        frame: rows of a statistic; its own intervals are not used.
        values: columns to average; missing values are left out.
        by: columns of the groups, such as ``protocol``.
        unit: columns that name a unit, such as ``block``.

    Returns:
        ``by``, then for each value its mean, ``_low``, ``_high`` (null with one unit) and
        ``_units``, how many had it; all null, and 0, with none. Sorted by ``by``.

    Raises:
        PodiumError: a column is not in the frame.
    """
    absent = [name for name in (*values, *by, *unit) if name not in frame.columns]
    if absent:
        raise PodiumError(
            f"a mean needs columns of the table; {', '.join(absent)} is not in "
            f"{', '.join(frame.columns)}"
        )
    units = (
        frame.with_columns(pl.col(name).cast(pl.Float64).fill_nan(None) for name in values)
        .group_by(*by, *unit)
        .agg(pl.col(values).mean())
        .sort(*by, *unit)
    )
    rows = []
    for key, group in units.group_by(by, maintain_order=True):
        row: dict[str, object] = dict(zip(by, key, strict=True))
        for name in values:
            known = group[name].drop_nulls().to_list()
            found = t_interval(known) if known else None
            row[name] = found.estimate if found else None
            row[f"{name}_low"] = found.low if found else None
            row[f"{name}_high"] = found.high if found else None
            row[f"{name}_units"] = len(known)
        rows.append(row)
    schema: dict[str, pl.DataType | type[pl.DataType]] = {name: frame.schema[name] for name in by}
    for name in values:
        schema |= dict.fromkeys((name, f"{name}_low", f"{name}_high"), pl.Float64)
        schema[f"{name}_units"] = pl.Int64
    return pl.DataFrame(rows, schema=schema)
