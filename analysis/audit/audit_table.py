"""Audits a typed table, such as one from a paper, whichever of four kinds it is.

Scores of competitors in blocks (`analysis.audit.score_rows`), ranks
(`analysis.audit.ranks_within_blocks`), a tournament's totals and averages
(`analysis.audit.rank_totals`), or folds with the mean and standard deviation claimed of
them (`analysis.audit.folds`). The columns say which.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from analysis.audit.findings import Audit, joined
from analysis.audit.folds import Claim, audit_folds, parse_claim, repeated_folds
from analysis.audit.published_rank_table import RankTable, rank_columns, rank_table
from analysis.audit.rank_totals import audit_tournament
from analysis.audit.ranks_within_blocks import audit_ranks
from analysis.audit.score_rows import audit_scores
from analysis.tournament.tournament import hold_tournament
from analysis.typed_tables.printed_numbers import printed_column
from analysis.typed_tables.row_filters import (
    Condition,
    filter_rows,
    missing_column,
    parse_condition,
)
from analysis.typed_tables.table_checks import check_columns, with_scores
from analysis.typed_tables.table_file import read_frame
from analysis.typed_tables.wide_tables import k_columns, long_by_block, long_by_k
from podium.errors import PodiumError

_BY = ("dataset", "backbone", "embedding_dim")
_SCORE, _RANK, _FOLD, _K = "recall", "rank", "fold", "k"
_MEANS = {"mean", "average", "avg"}
_SDS = {"std", "sd", "stdev", "standard deviation"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """What a user says of a table; what is not said is found by the names of its columns.

    Attributes:
        by: columns that together name a block; None means those of data set, backbone and
            embedding dimension that there are.
        competitor: column of competitors.
        score: column of scores, higher is better; None means ``recall``, or what a wide table
            holds.
        where: conditions ``column=value`` on its rows.
        average: columns whose rows are averaged within a cell.
        published: file of a tournament's table that summarises these scores or ranks.
        blocks: number of blocks that a tournament's table summarises.
        claims: ``column=mean±sd``, what is claimed of columns of folds.
    """

    by: Sequence[str] | None = None
    competitor: str = "loss"
    score: str | None = None
    where: Sequence[str] = field(default=())
    average: Sequence[str] = field(default=())
    published: Path | None = None
    blocks: int | None = None
    claims: Sequence[str] = field(default=())


def audit_file(path: Path, options: AuditOptions) -> Audit:
    """Find what is wrong with a table.

    Args:
        path: a ``.csv`` file with a header, or a ``.parquet`` file. Of a CSV file the numbers are
            taken as typed, so that their decimals are known.
        options: what the user says of the table.

    Raises:
        PodiumError: the table is of none of the kinds, a column is missing or holds text among
            numbers, no row is left, or an option does not go with the kind.
        CorruptFileError: the file is not what its name says.
    """
    conditions = [parse_condition(text) for text in options.where]
    of_k = [condition for condition in conditions if condition[0] == _K]
    table = _read(path, [condition for condition in conditions if condition[0] != _K])
    kind = _kind(table, options)
    if of_k and kind != "scores":
        raise PodiumError(f"--where k=... goes with a table of scores; {path} is one of {kind}")
    _refuse_options(kind, options, path)
    if kind == "folds":
        return _folds(table, options)
    if kind == "tournament":
        printed = rank_table(table.typed, competitor=options.competitor, source=table.source)
        return audit_tournament(printed, blocks=options.blocks)
    if kind == "ranks":
        return _ranks(table, options)
    return _scores(table, options, of_k)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """A table with values parsed and with every cell as typed, the same rows in both."""

    frame: pl.DataFrame
    typed: pl.DataFrame
    source: str


def _read(path: Path, conditions: Sequence[Condition]) -> _Table:
    frame = read_frame(path)
    if frame.is_empty():
        raise PodiumError(f"{path} has no rows to audit")
    typed = read_frame(path, as_typed=True)
    row = "__row"
    kept = filter_rows(frame.with_row_index(row), conditions, source=str(path))
    return _Table(frame=kept.drop(row), typed=typed[kept[row].to_list()], source=str(path))


def _kind(table: _Table, options: AuditOptions) -> str:
    """``scores``, ``tournament``, ``ranks`` or ``folds``."""
    columns = table.frame.columns
    if options.score is not None and options.score not in columns:
        raise missing_column(options.score, columns, source=table.source)
    if options.score is not None or _SCORE in columns:
        return "scores"
    has_competitor = options.competitor in columns
    others = [name for name in columns if name != options.competitor]
    roles = rank_columns(others)
    if has_competitor and ("total" in roles or "average" in roles):
        return "tournament"
    if has_competitor and _RANK in columns:
        return "ranks"
    if has_competitor and (k_columns(others) or _numeric(table.frame, others)):
        return "scores"
    if _FOLD in columns and _numeric(table.frame, [name for name in columns if name != _FOLD]):
        return "folds"
    raise PodiumError(
        f"{table.source} is no table that can be audited; its columns are {', '.join(columns)}. It"
        f" must have a column of competitors ({options.competitor!r}; --competitor names another)"
        f" beside scores ({_SCORE!r}; --score), ranks ({_RANK!r}) or the totals and averages of a"
        f" tournament, or a column {_FOLD!r} beside scores"
    )


def _refuse_options(kind: str, options: AuditOptions, path: Path) -> None:
    """An option that would be ignored is refused."""
    kinds_of_option = {
        "--published": (options.published is not None, ("scores", "ranks")),
        "--blocks": (options.blocks is not None, ("tournament",)),
        "--claim": (bool(options.claims), ("folds",)),
        "--by": (options.by is not None, ("scores", "ranks")),
        "--average": (bool(options.average), ("scores",)),
    }
    for option, (is_given, kinds) in kinds_of_option.items():
        if is_given and kind not in kinds:
            raise PodiumError(
                f"{option} goes with a table of {' or '.join(kinds)}; {path} is one of {kind}"
            )


def _scores(table: _Table, options: AuditOptions, of_k: Sequence[Condition]) -> Audit:
    frame, by, score = _long(table, options)
    average, competitor = tuple(options.average), options.competitor
    check_columns(frame, keys=[*by, competitor, *average], score=score, source=table.source)
    frame = with_scores(frame, score, source=table.source)
    k = None
    if of_k:
        kept = filter_rows(frame, of_k, source=table.source)
        if _K in (*by, *average):
            frame = kept
        else:
            k = kept[_K][0]
    audited = audit_scores(frame, by=by, competitor=competitor, score=score, average=average, k=k)
    if options.published is None:
        return audited.audit
    if audited.tournament is None:
        raise PodiumError(
            f"{options.published} cannot be compared with {table.source}:"
            f" {audited.audit.notes[-1].message}"
        )
    printed = _published(options)
    return joined([audited.audit, audit_tournament(printed, recomputed=audited.tournament)])


def _long(table: _Table, options: AuditOptions) -> tuple[pl.DataFrame, tuple[str, ...], str]:
    """One score per row, the columns that name a block, and the column of scores."""
    frame, score = table.frame, options.score or _SCORE
    by = _block_columns(frame, options)
    if score in frame.columns:
        return frame, by, score
    others = [name for name in frame.columns if name not in (*by, options.competitor)]
    if ks := k_columns(others):
        return long_by_k(frame, ks, score=score), by, score
    wide = [name for name in _numeric(frame, others) if name not in options.average]
    if options.by is not None or len(wide) < len(others):
        raise PodiumError(
            f"{table.source} has no column {score!r}: name the scores with --score; where each"
            " column is a block there must be none but these and the competitors"
            f" (columns: {', '.join(frame.columns)})"
        )
    long = long_by_block(
        frame.select(options.competitor, *wide), wide, competitor=options.competitor, score=score
    )
    return long, ("block",), score


def _block_columns(frame: pl.DataFrame, options: AuditOptions) -> tuple[str, ...]:
    if options.by is not None:
        return tuple(options.by)
    known = tuple(name for name in _BY if name in frame.columns)
    if known or (options.score or _SCORE) not in frame.columns:
        return known or (("block",) if "block" in frame.columns else ())
    raise PodiumError(
        "name the columns that make a block with --by; none of"
        f" {', '.join(_BY)} is in the table (columns: {', '.join(frame.columns)})"
    )


def _ranks(table: _Table, options: AuditOptions) -> Audit:
    by = _block_columns(table.frame, options)
    if not by:
        raise PodiumError(f"name the columns that make a block of {table.source} with --by")
    competitor = options.competitor
    check_columns(table.frame, keys=[*by, competitor], score=_RANK, source=table.source)
    frame = with_scores(table.frame, _RANK, source=table.source)
    audit = audit_ranks(frame, by=by, competitor=competitor, rank=_RANK)
    if options.published is None:
        return audit
    ranked = frame.with_columns((-pl.col(_RANK)).alias(_RANK))
    held = hold_tournament(ranked, by=by, competitor=competitor, score=_RANK)
    return joined([audit, audit_tournament(_published(options), recomputed=held)])


def _published(options: AuditOptions) -> RankTable:
    assert options.published is not None
    table = _read(options.published, ())
    return rank_table(table.typed, competitor=options.competitor, source=table.source)


def _folds(table: _Table, options: AuditOptions) -> Audit:
    """Audits each numeric column; rows called mean and sd, and ``claims``, are what is claimed."""
    labels = [str(name).strip().lower() for name in table.typed[_FOLD]]
    columns = _numeric(table.frame, [name for name in table.frame.columns if name != _FOLD])
    claims = [parse_claim(text) for text in options.claims]
    for claim in claims:
        if claim.column not in columns:
            raise missing_column(claim.column, columns, source=table.source)
    others = [name for name in table.frame.columns if name not in columns]
    audits = [repeated_folds(table.typed.select(others).rows(), others.index(_FOLD))]
    for column in columns:
        cells = table.typed[column].to_list()
        printed = printed_column(cells, column=column, source=table.source)
        rows = list(zip(labels, printed, strict=True))
        mean = next((value for label, value in rows if label in _MEANS), None)
        sd = next((value for label, value in rows if label in _SDS), None)
        of_column = [claim for claim in claims if claim.column == column]
        if mean is not None or sd is not None:
            of_column.append(Claim(column=column, mean=mean, sd=sd))
        folds = [value for label, value in rows if label not in _MEANS | _SDS]
        audits.append(audit_folds(column, folds, of_column))
    return joined(audits)


def _numeric(frame: pl.DataFrame, columns: Sequence[str]) -> list[str]:
    return [name for name in columns if frame.schema[name].is_numeric()]
