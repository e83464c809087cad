"""What ``podium tournament`` prints: the whole tournament, then one for each subgroup."""

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from analysis.estimates.ranks import Standing
from analysis.tournament.medals import shared_places
from analysis.tournament.rank_stability import RankStability
from analysis.tournament.sensitivity_to_test import SensitivityToTest
from analysis.tournament.sensitivity_to_test_text import medals_text, sensitivity_sentences
from analysis.tournament.subgroups import Subgroup, rank_subgroups
from analysis.tournament.tournament import Tournament
from analysis.tournament.verdict_text import tournament_sentences
from analysis.typed_tables.row_filters import parse_condition
from analysis.typed_tables.score_table import ScoreTable
from orchestrator.results.records.fairness_record import Fairness
from podium.errors import PodiumError
from podium.terminal.fairness_text import difference_notes
from podium.terminal.printing import aligned, print_json, print_table, say, table_text

_WIDTH = 80
_K = "k"
_SUBGROUP_COLUMNS = (
    *("each", "value", "competitor", "place", "average_rank", "total_rank", "rank_std"),
    *("wins", "mean_score", "blocks", "excluded"),
)


def tournament_answer(
    table: ScoreTable,
    tournament: Tournament,
    stability: RankStability | None,
    sensitivity: SensitivityToTest | None,
    pseudo: Tournament | None,
    fairness: Fairness | None,
) -> str:
    """Ranks, tests and warnings in 80 columns.

    Args:
        table: table of scores that was ranked.
        tournament: tournament held on ``table``.
        stability: stability of the ranks; None if nothing could be resampled.
        sensitivity: the tournament under each test; None with a single block.
        pseudo: runs of a single block ranked one by one; None with several blocks.
        fairness: what is equal between the losses of a study; None for a table.
    """
    num_blocks = len(tournament.blocks)
    title = (
        f"{len(tournament.names)} competitors ranked by {table.score} within "
        f"{num_blocks} {'block' if num_blocks == 1 else 'blocks'} ({' x '.join(table.by)})"
    )
    parts = [title, *_all_blocks_text(tournament), _standings_text(tournament, stability)]
    if pseudo is not None:
        parts += [
            f"Each {' and '.join(table.run_columns)} ranked on its own, for description only:",
            _standings_text(pseudo, None),
        ]
    parts += tournament_sentences(tournament, stability)
    if sensitivity is not None:
        parts += ["The same table under other tests:", _tests_text(sensitivity)]
        parts += sensitivity_sentences(tournament, sensitivity)
    parts += [f"Warning: {line}" for line in table.warnings]
    parts += difference_notes(fairness) if fairness else []
    return "\n\n".join(
        part if "\n" in part else textwrap.fill(part, _WIDTH, break_on_hyphens=False)
        for part in parts
    )


def _tests_text(sensitivity: SensitivityToTest) -> str:
    rows: list[dict[str, Any]] = [
        {
            "test": test.shown,
            "different": f"{len(test.different_pairs)}/{sensitivity.num_pairs}",
            "equal to 1st": len(test.not_different_from_first),
            "places": medals_text(test),
        }
        for test in sensitivity.tests
    ]
    return table_text(rows, columns=list(rows[0]))


def _standings_text(tournament: Tournament, stability: RankStability | None) -> str:
    columns = ("place", "competitor", "total", "average", "sd", "min", "max", "wins", "mean score")
    shared = shared_places(tournament, stability)
    rows: list[dict[str, Any]] = [
        {
            "place": f"{standing.place} shared"
            if standing.competitor in shared
            else standing.place,
            "competitor": standing.competitor,
            "total": _whole(standing.total_rank),
            "average": round(standing.average_rank, 2),
            "sd": None if standing.rank_std is None else round(standing.rank_std, 2),
            "min": _whole(standing.min_rank),
            "max": _whole(standing.max_rank),
            "wins": standing.wins,
            "mean score": standing.mean_score,
        }
        for standing in tournament.standings
    ]
    return table_text(rows, columns=columns)


def _all_blocks_text(tournament: Tournament) -> list[str]:
    """The order over all blocks, if the ranking leaves out those that lack scores."""
    if tournament.available is None:
        return []
    rows: list[dict[str, Any]] = [
        {
            "competitor": rank.competitor,
            "rank sum": None if rank.rank_sum is None else round(rank.rank_sum, 2),
            "beaten by": None if rank.beaten_by is None else round(rank.beaten_by, 2),
            "average": None if rank.average_rank is None else round(rank.average_rank, 2),
            "blocks": rank.num_blocks,
        }
        for rank in tournament.available.ranks
    ]
    return [
        "All blocks, by Skillings and Mack's sum of ranks (a missing score is the middle rank):",
        table_text(rows, columns=list(rows[0])),
        "The complete blocks alone:",
    ]


def _whole(rank: float) -> int | float:
    return int(rank) if rank.is_integer() else rank


def print_subgroups(
    factors: Sequence[str],
    table_of: Callable[[str], ScoreTable],
    *,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Rank within each value of each factor and print average ranks and places.

    Args:
        factors: names of the columns by which subgroups are formed.
        table_of: function that gives the table for a factor, a column of the table's cells.
        as_json: whether to print ``{"slices": [...], "warnings": [...]}``.
        as_csv: whether to print one row for each subgroup and competitor; ignored with
            ``as_json``.

    Raises:
        PodiumError: a subgroup holds two scores of one competitor in one block.
    """
    tables = {factor: table_of(factor) for factor in factors}
    found = {
        factor: rank_subgroups(
            table.cells,
            factor=factor,
            by=table.by,
            competitor=table.competitor,
            score=table.score,
        )
        for factor, table in tables.items()
    }
    warnings = list(dict.fromkeys(line for t in tables.values() for line in t.warnings))
    if as_json:
        records = [_record(one) for subgroups in found.values() for one in subgroups]
        print_json({"slices": records, "warnings": warnings})
    elif as_csv:
        print_table(
            [row for subgroups in found.values() for one in subgroups for row in _rows(one)],
            columns=_SUBGROUP_COLUMNS,
            as_csv=True,
        )
    else:
        texts = [
            _subgroups_text(tables[factor], factor, subgroups)
            for factor, subgroups in found.items()
        ]
        say("\n\n".join([*texts, *(f"Warning: {line}" for line in warnings)]))


def study_table_by_factor(
    table_of_k: Callable[[int | None], ScoreTable],
    ks: Sequence[int],
    where: Sequence[str],
    factor: str,
) -> ScoreTable:
    """The table of a study for subgroups by a factor: with a column ``k`` if that is the factor.

    Args:
        table_of_k: function that gives the study's table for a K, and the one to rank for None.
        ks: the study's K.
        where: conditions ``COLUMN=VALUE`` on the rows, which the tables fulfil.
        factor: a column of blocks, or ``k``.

    Raises:
        PodiumError: the study has no such factor, or ``where`` fixes ``k``.
    """
    if factor != _K:
        first = table_of_k(None)
        if factor not in first.by:
            known = ", ".join((_K, *first.by))
            raise PodiumError(f"--each of a study must be among {known}; got {factor!r}")
        return first
    if _K in dict(parse_condition(text) for text in where):
        raise PodiumError("--each k ranks under every K; leave --where k=... out")
    tables = [table_of_k(k) for k in ks]
    cells = [
        table.cells.with_columns(pl.lit(k).alias(_K)) for table, k in zip(tables, ks, strict=True)
    ]
    return replace(tables[0], cells=pl.concat(cells), by=(*tables[0].by, _K))


def _rows(one: Subgroup) -> list[dict[str, Any]]:
    return [
        {
            "each": one.factor,
            "value": one.value,
            "competitor": standing.competitor,
            "place": standing.place,
            "average_rank": standing.average_rank,
            "total_rank": standing.total_rank,
            "rank_std": standing.rank_std,
            "wins": standing.wins,
            "mean_score": standing.mean_score,
            "blocks": one.num_blocks,
            "excluded": one.num_excluded,
        }
        for standing in one.standings
    ]


def _record(one: Subgroup) -> dict[str, Any]:
    shared = ("each", "value", "blocks", "excluded")
    return {
        "each": one.factor,
        "value": one.value,
        "blocks": one.num_blocks,
        "excluded": one.num_excluded,
        "competitors": [
            {name: value for name, value in row.items() if name not in shared}
            for row in _rows(one)
        ],
    }


def _subgroups_text(table: ScoreTable, factor: str, subgroups: Sequence[Subgroup]) -> str:
    """Losses in rows, ordered by mean rank over subgroups, and a column for each subgroup."""
    by_name = [one.standing_of for one in subgroups]
    names = sorted(
        {name for standing_of in by_name for name in standing_of},
        key=lambda name: (_mean_rank(name, by_name), name),
    )
    lines = [
        [table.competitor, *(f"{one.value}" for one in subgroups)],
        *([name, *(_rank(standing_of.get(name)) for standing_of in by_name)] for name in names),
        ["(blocks ranked)", *(str(one.num_blocks) for one in subgroups)],
    ]
    if any(one.num_excluded for one in subgroups):
        lines.append(["(incomplete, left out)", *(str(one.num_excluded) for one in subgroups)])
    title = f"Average rank by {table.score} and place within each {factor}"
    return f"{title}\n\n{aligned(lines, [False] * len(lines[0]))}"


def _mean_rank(name: str, by_name: Sequence[dict[str, Standing]]) -> float:
    ranks = [found[name].average_rank for found in by_name if name in found]
    return sum(ranks) / len(ranks)


def _rank(standing: Standing | None) -> str:
    return "-" if standing is None else f"{standing.average_rank:.2f} ({standing.place})"
