"""Audits a typed table, such as one from a paper, whichever of four kinds it is.

Scores of competitors in blocks (`analysis.audit.score_rows`), ranks
(`analysis.audit.ranks_within_blocks`), a tournament's totals and averages
(`analysis.audit.rank_totals`), or folds with the mean and standard deviation claimed of
them (`analysis.audit.folds`). The columns say which.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
    filter_file,
    filter_rows,
    missing_column,
    parse_condition,
)
from analysis.typed_tables.score_table import read_scores
from analysis.typed_tables.table_checks import check_columns, with_scores
from analysis.typed_tables.table_file import TableFile, read_table_file
from analysis.typed_tables.table_layout import (
    COMPETITOR,
    SCORE,
    GivenColumns,
    block_columns,
    competitor_column,
    plain_score_columns,
    score_column,
    score_columns,
)
from analysis.typed_tables.table_reading import TableReading
from podium.errors import PodiumError

_RANK, _FOLD, _K = "rank", "fold", "k"
_MEANS = {"mean", "average", "avg"}
_SDS = {"std", "sd", "stdev", "standard deviation"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """What a user says of a table; what is not said is found by the names of its columns.

    Attributes:
        by: columns that together name a block; None means those of data set, backbone and
            embedding dimension that there are.
        competitor: column of competitors; None means ``loss``, or what else it may be called.
        score: column of scores, or a metric of several; None means recall.
        where: conditions ``column=value`` on its rows.
        average: columns whose rows are averaged within a cell.
        without: competitors to leave out.
        lower_is_better: whether small scores are good.
        published: file of a tournament's table that summarises these scores or ranks.
        blocks: number of blocks that a tournament's table summarises.
        claims: ``column=mean±sd``, what is claimed of columns of folds.
    """

    by: Sequence[str] | None = None
    competitor: str | None = None
    score: str | None = None
    where: Sequence[str] = field(default=())
    average: Sequence[str] = field(default=())
    without: Sequence[str] = field(default=())
    lower_is_better: bool = False
    published: Path | None = None
    blocks: int | None = None
    claims: Sequence[str] = field(default=())


def audit_file(path: Path, options: AuditOptions) -> Audit:
    """Find what is wrong with a table.

    Args:
        path: a file that `read_table_file` reads. Of text the numbers are taken as typed, so that
            their decimals are known.
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
        printed = _rank_table(table, options.competitor)
        return audit_tournament(printed, blocks=options.blocks)
    if kind == "ranks":
        return _ranks(table, options)
    return _scores(table, options, of_k)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """The table of a file, and its rows that meet the user's conditions."""

    path: Path
    whole: TableFile
    file: TableFile

    @property
    def frame(self) -> pl.DataFrame:
        return self.file.frame

    def as_typed(self) -> pl.DataFrame:
        """The same rows with every cell as typed, read anew: few kinds of tables need it."""
        frame = read_table_file(self.path, as_typed=True).frame
        return frame if self.file.kept is None else frame[list(self.file.kept)]

    @property
    def source(self) -> str:
        return self.file.source


def _read(path: Path, conditions: Sequence[Condition]) -> _Table:
    file = read_table_file(path)
    if file.frame.is_empty():
        raise PodiumError(f"{path} has no rows to audit")
    early = [condition for condition in conditions if condition[0] in file.frame.columns]
    return _Table(path=path, whole=file, file=filter_file(file, early))


def _given(options: AuditOptions) -> GivenColumns:
    return GivenColumns(
        by=options.by,
        competitor=options.competitor,
        score=options.score,
        average=options.average,
        lower_is_better=options.lower_is_better,
    )


def _kind(table: _Table, options: AuditOptions) -> str:
    """``scores``, ``tournament``, ``ranks`` or ``folds``."""
    frame, given = table.frame, _given(options)
    columns = frame.columns
    if options.score is not None or SCORE in columns:
        return "scores"
    competitor = competitor_column(frame, given)
    if _FOLD in columns and competitor in (None, _FOLD):
        return "folds"
    if competitor is not None:
        if _is_rank_table(frame, given, competitor):
            return "tournament"
        if _RANK in columns:
            return "ranks"
        if (
            score_column(frame, given) is not None
            or score_columns(frame, given, competitor)
            or plain_score_columns(frame, given, competitor)
        ):
            return "scores"
    raise PodiumError(
        f"{table.source} is no table that can be audited; its columns are {', '.join(columns)}. It"
        f" must have a column of competitors ({options.competitor or COMPETITOR!r}; --competitor"
        f" names another) beside scores ({SCORE!r}; --score), ranks ({_RANK!r}) or the totals and"
        f" averages of a tournament, or a column {_FOLD!r} beside scores"
    )


def _is_rank_table(frame: pl.DataFrame, given: GivenColumns, competitor: str) -> bool:
    """Whether there are totals or averages of ranks; an average of scores beside them is none."""
    roles = rank_columns([name for name in frame.columns if name != competitor])
    if "total" in roles or "average" not in roles:
        return "total" in roles
    if score_columns(frame, given, competitor):
        return False
    average = frame[roles["average"]]
    largest = average.max() if average.dtype.is_numeric() else None
    is_rank = not isinstance(largest, (int, float)) or largest <= len(frame)
    return is_rank or len(plain_score_columns(frame, given, competitor)) < 2


def _refuse_options(kind: str, options: AuditOptions, path: Path) -> None:
    """An option that would be ignored is refused."""
    kinds_of_option = {
        "--published": (options.published is not None, ("scores", "ranks")),
        "--blocks": (options.blocks is not None, ("tournament",)),
        "--claim": (bool(options.claims), ("folds",)),
        "--by": (options.by is not None, ("scores", "ranks")),
        "--average": (bool(options.average), ("scores",)),
        "--without": (bool(options.without), ("scores",)),
        "--lower-is-better": (options.lower_is_better, ("scores",)),
    }
    for option, (is_given, kinds) in kinds_of_option.items():
        if is_given and kind not in kinds:
            raise PodiumError(
                f"{option} goes with a table of {' or '.join(kinds)}; {path} is one of {kind}"
            )


def _scores(table: _Table, options: AuditOptions, of_k: Sequence[Condition]) -> Audit:
    read = read_scores(table.whole, _given(options), where=options.where, without=options.without)
    layout = read.layout
    frame, average = layout.frame, tuple(options.average)
    k = None
    if of_k:
        kept = filter_rows(frame, of_k, source=table.source)
        if _K in (*layout.by, *average):
            frame = kept
        else:
            k = kept[_K][0]
    audited = audit_scores(
        frame,
        by=layout.by,
        competitor=layout.competitor,
        score=layout.score,
        average=average,
        k=k,
        lower_is_better=options.lower_is_better,
    )
    reading = TableReading(
        by=layout.by,
        num_blocks=frame.select(layout.by).n_unique(),
        competitor=layout.competitor,
        num_competitors=frame[layout.competitor].n_unique(),
        metric=layout.score,
        k=audited.k,
        ks=audited.ks,
        unused=layout.unused,
        lower_is_better=options.lower_is_better,
    )
    audit = replace(audited.audit, reading=reading)
    if options.published is None:
        return audit
    if audited.tournament is None:
        raise PodiumError(
            f"{options.published} cannot be compared with {table.source}:"
            f" {audited.audit.notes[-1].message}"
        )
    printed = _published(options.published, options)
    return joined([audit, audit_tournament(printed, recomputed=audited.tournament)])


def _ranks(table: _Table, options: AuditOptions) -> Audit:
    by = tuple(options.by) if options.by is not None else block_columns(table.frame.columns)
    if not by:
        raise PodiumError(f"name the columns that make a block of {table.source} with --by")
    competitor = competitor_column(table.frame, _given(options)) or COMPETITOR
    check_columns(table.frame, keys=[*by, competitor], score=_RANK, table=table.file)
    frame = with_scores(table.frame, _RANK, table=table.file)
    audit = audit_ranks(frame, by=by, competitor=competitor, rank=_RANK)
    if options.published is None:
        return audit
    ranked = frame.with_columns((-pl.col(_RANK)).alias(_RANK))
    held = hold_tournament(ranked, by=by, competitor=competitor, score=_RANK)
    return joined(
        [audit, audit_tournament(_published(options.published, options), recomputed=held)]
    )


def _published(path: Path, options: AuditOptions) -> RankTable:
    return _rank_table(_read(path, ()), options.competitor)


def _rank_table(table: _Table, competitor: str | None) -> RankTable:
    given = GivenColumns(competitor=competitor)
    found = competitor_column(table.frame, given) or competitor or COMPETITOR
    return rank_table(table.as_typed(), competitor=found, source=table.source)


def _folds(table: _Table, options: AuditOptions) -> Audit:
    """Audits each numeric column; rows called mean and sd, and ``claims``, are what is claimed."""
    typed = table.as_typed()
    labels = [str(name).strip().lower() for name in typed[_FOLD]]
    columns = _numeric(table.frame, [name for name in table.frame.columns if name != _FOLD])
    claims = [parse_claim(text) for text in options.claims]
    for claim in claims:
        if claim.column not in columns:
            raise missing_column(claim.column, columns, source=table.source)
    others = [name for name in table.frame.columns if name not in columns]
    audits = [repeated_folds(typed.select(others).rows(), others.index(_FOLD))]
    for column in columns:
        cells = typed[column].to_list()
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
