"""What ``podium tournament`` prints."""

import textwrap
from typing import Any

from analysis.tournament.medals import shared_places
from analysis.tournament.rank_stability import RankStability
from analysis.tournament.test_sensitivity import Multiverse
from analysis.tournament.test_sensitivity_text import medals_text, multiverse_sentences
from analysis.tournament.tournament import Tournament
from analysis.tournament.tournament_text import tournament_sentences
from analysis.typed_tables.score_table import ScoreTable
from orchestrator.results.records.fairness_record import Fairness
from podium.terminal.fairness_text import difference_notes
from podium.terminal.printing import table_text

__all__ = ["tournament_answer"]

_WIDTH = 80


def tournament_answer(
    table: ScoreTable,
    tournament: Tournament,
    stability: RankStability | None,
    under: Multiverse | None,
    pseudo: Tournament | None,
    fairness: Fairness | None,
) -> str:
    """Ranks, tests and warnings in 80 columns.

    Args:
        table: what was ranked.
        tournament: held on it.
        stability: of its ranks, if anything could be resampled.
        under: the tournament under other tests; None with a single block.
        pseudo: the runs of a single block ranked one by one.
        fairness: of the study, if it is one.
    """
    num_blocks = len(tournament.blocks)
    title = (
        f"{len(tournament.names)} competitors ranked by {table.score} within "
        f"{num_blocks} {'block' if num_blocks == 1 else 'blocks'} ({' x '.join(table.by)})"
    )
    parts = [title, _standings_text(tournament, stability)]
    if pseudo is not None:
        parts += [
            f"Each {' and '.join(table.run_columns)} ranked on its own, for description only:",
            _standings_text(pseudo, None),
        ]
    parts += tournament_sentences(tournament, stability)
    if under is not None:
        parts += ["The same table under other tests:", _tests_text(under)]
        parts += multiverse_sentences(tournament, under)
    parts += [f"Warning: {line}" for line in table.warnings]
    parts += difference_notes(fairness) if fairness else []
    return "\n\n".join(
        part if "\n" in part else textwrap.fill(part, _WIDTH, break_on_hyphens=False)
        for part in parts
    )


def _tests_text(under: Multiverse) -> str:
    rows: list[dict[str, Any]] = [
        {
            "test": f"{test.label}{' (primary)' if test.is_primary else ''}",
            "pairs apart": f"{len(test.apart)}/{under.num_pairs}",
            "equal to 1st": len(test.not_from_first),
            "places": medals_text(test),
        }
        for test in under.tests
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


def _whole(rank: float) -> int | float:
    return int(rank) if rank.is_integer() else rank
