"""Which scores a table lacks, and which of them it may lack on purpose.

A competitor that was never run on a data set is a gap that its table shows, as most published
tables do: a note. A gap in what was run is a finding. Each data set has its own K and seeds.
"""

from collections.abc import Iterator

import polars as pl

from analysis.audit.findings import Audit, Finding
from analysis.audit.score_columns import K, ScoreColumns
from analysis.wording import counted, listed

_WHAT, _NUM_ROWS = "__what", "__num_rows"
_FEW = 0.5  # share of a data set's cells: a K of fewer is not expected of the others


def missing_scores(frame: pl.DataFrame, columns: ScoreColumns) -> Audit:
    """What a table lacks: rows that all others of a data set have, and scores.

    Args:
        frame: one score per row, null where it is missing. The first column of ``columns.by``
            names the data set.
        columns: roles of the columns of the frame.
    """
    scored = frame.drop_nulls(columns.score)
    ran = scored.select(_data_set(columns), columns.competitor).unique()
    expected, rare = _expected(scored if len(scored) else frame, columns)
    absent = expected.join(frame, on=columns.keys, how="anti").with_columns(_what("row"))
    empty = frame.filter(pl.col(columns.score).is_null()).with_columns(_what("score"))
    both = pl.concat([part.select(*columns.keys, _WHAT) for part in (absent, empty)])
    gaps = both.join(ran, on=ran.columns, how="semi").sort(*columns.keys, _WHAT)
    return Audit(
        findings=tuple(
            Finding(
                kind="missing",
                where=columns.location(row),
                message=f"has no {row[_WHAT]}",
            )
            for row in gaps.to_dicts()
        ),
        notes=(*_not_run(both.select(ran.columns).unique(), ran, columns), *rare),
    )


def _data_set(columns: ScoreColumns) -> str:
    return columns.by[0]


def _what(kind: str) -> pl.Expr:
    return pl.lit(kind).alias(_WHAT)


def _expected(scored: pl.DataFrame, columns: ScoreColumns) -> tuple[pl.DataFrame, list[Finding]]:
    """Every block x competitor x seed x K of its data set; and a note on each rare K."""
    data_set = _data_set(columns)
    whole = scored.select(columns.by).unique()
    whole = whole.join(scored.select(columns.competitor).unique(), how="cross")
    for name in columns.average:
        whole = whole.join(scored.select(data_set, name).unique(), on=data_set)
    if not columns.has_k:
        return whole, []
    counts = scored.select(columns.keys).unique().group_by(data_set, K).len(_NUM_ROWS)
    most = pl.col(_NUM_ROWS).max().over(data_set)
    is_rare = pl.col(_NUM_ROWS) < _FEW * most
    rare = [
        Finding(
            kind="k",
            where=f"{name}, k = {k}",
            message=f"only {counted(num_rows, 'row')} of a data set's {num_most} at most have this"
            " K",
        )
        for name, k, num_rows, num_most in counts.with_columns(most.alias("__most"))
        .filter(is_rare)
        .sort(data_set, K)
        .rows()
    ]
    return whole.join(counts.filter(~is_rare).select(data_set, K), on=data_set), rare


def _not_run(lacking: pl.DataFrame, ran: pl.DataFrame, columns: ScoreColumns) -> Iterator[Finding]:
    """One note for each competitor without any score on some data set."""
    data_set, competitor = _data_set(columns), columns.competitor
    unscored = lacking.join(ran, on=ran.columns, how="anti").sort(competitor, data_set)
    known = set(ran[competitor])
    for (name,), rows in unscored.group_by(competitor, maintain_order=True):
        sets = [str(value) for value in rows[data_set]]
        message = (
            f"has no score on {listed(sets)}"
            if name in known
            else "has no score at all and is left out of the ranking"
        )
        yield Finding(kind="missing", where=str(name), message=message)
