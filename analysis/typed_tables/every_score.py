"""Every score that a table holds, such as Recall@K beside NMI, each read as the ranked one is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from analysis.typed_tables.row_filters import parse_condition
from analysis.typed_tables.score_names import RECALL, score_name
from analysis.typed_tables.score_table import ScoreTable
from analysis.typed_tables.table_file import TableFile
from analysis.typed_tables.table_layout import (
    GivenColumns,
    K,
    metric_column,
    score_column,
    score_columns,
)
from podium.errors import PodiumError

Reader = Callable[[str | None, Sequence[str]], ScoreTable]
"""Reads the table by a score, None for the usual one, and with conditions on its rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOfTable:
    """One score of a table.

    Attributes:
        table: its scores.
        arguments: what the command takes to rank by it at its usual K: score and conditions.
    """

    table: ScoreTable
    arguments: tuple[str, ...]


def every_score(
    file: TableFile, ranked: ScoreTable, given: GivenColumns, where: Sequence[str], read: Reader
) -> tuple[ScoreOfTable, ...]:
    """The ranked score, then the others that have its blocks and competitors.

    A score that the command refuses is left out.

    Args:
        file: the whole table of the file.
        ranked: the table by the score that was asked for.
        given: what was said of its columns.
        where: conditions ``column=value`` on its rows.
        read: how it is read by another score.
    """
    metric = metric_column(file.frame)
    own = [text for text in where if metric and parse_condition(text)[0] == metric]
    rest = [text for text in where if text not in own]
    found = [ScoreOfTable(table=ranked, arguments=_words(given.score, where))]
    for score, conditions in _others(file, ranked, given, metric, own):
        try:
            table = read(score, [*rest, *conditions])
        except PodiumError:
            continue
        is_new = table.score not in {one.table.score for one in found}
        if is_new and (table.by, table.competitor) == (ranked.by, ranked.competitor):
            words = _words(score, [*rest, *conditions])
            found.append(ScoreOfTable(table=table, arguments=words))
    return tuple(found)


def _words(score: str | None, conditions: Sequence[str]) -> tuple[str, ...]:
    of_score = () if score is None else ("--score", score)
    kept = [text for text in conditions if parse_condition(text)[0] != K]
    return (*of_score, *(word for text in kept for word in ("--where", text)))


def _others(
    file: TableFile,
    ranked: ScoreTable,
    given: GivenColumns,
    metric: str | None,
    own: Sequence[str],
) -> list[tuple[str | None, list[str]]]:
    """Score and conditions of the scores that are not ranked."""
    if metric is not None and metric not in ranked.by:
        names = file.frame[metric].drop_nulls().unique(maintain_order=True).cast(pl.String)
        taken = {parse_condition(text)[1] for text in own} or _usual(names.to_list())
        return [(given.score, [f"{metric}={name}"]) for name in names if name not in taken]
    named = score_columns(file.frame, given, ranked.competitor)
    if score_column(file.frame, given) is None:
        metrics = dict.fromkeys(found.metric for found in named.values())
        return [(name, list(own)) for name in metrics if name != _score_of(ranked)]
    return [(name, list(own)) for name in named if name != _score_of(ranked)]


def _usual(names: Sequence[str]) -> set[str]:
    """The metrics that are ranked unless a condition names one: recall at every K."""
    return {name for name in names if (said := score_name(name)) and said.metric == RECALL}


def _score_of(table: ScoreTable) -> str:
    """Its score before it was negated."""
    return table.score if table.reading is None else table.reading.metric
