"""A tournament as plain values, for JSON and CSV."""

from dataclasses import asdict
from typing import Any

from podium.analysis.estimates.ranks import Standing
from podium.analysis.hypothesis_tests.pairwise_comparisons import Pair
from podium.analysis.tournament.medals import Medal, medals
from podium.analysis.tournament.rank_bootstrap import LeaveOneOut, RankBootstrap
from podium.analysis.tournament.rank_stability import RankStability
from podium.analysis.tournament.tournament import Tournament


def tournament_record(tournament: Tournament, stability: RankStability | None) -> dict[str, Any]:
    """Everything a tournament found: ``competitors`` (best first), ``friedman``, ``pairs``, ...

    What could not be computed is None: with two competitors there is neither Friedman nor Nemenyi,
    with one group of blocks no test at all.
    """
    return {
        "question": tournament.units.question,
        "competitors": standing_records(tournament),
        "friedman": asdict(tournament.friedman) if tournament.friedman else None,
        "critical_difference": tournament.critical_difference,
        "test": tournament.test,
        "alpha": tournament.alpha,
        "smallest_p": asdict(tournament.smallest_p) if tournament.smallest_p else None,
        "pairs": [_pair(pair) for pair in tournament.pairs],
        "groups": tournament.groups,
        "nemenyi_groups": tournament.nemenyi_groups,
        "nemenyi_pool": asdict(tournament.pool) if tournament.pool else None,
        "medals": [_medal(medal) for medal in medals(tournament, stability)],
        "stability": _stability(stability) if stability else None,
        "by": tournament.by,
        "blocks": tournament.block_labels,
        "block_groups": {
            "columns": tournament.block_groups.columns,
            "labels": tournament.block_groups.labels,
            "intraclass_correlation": tournament.intraclass_correlation,
            "factor_correlations": tournament.factor_correlations,
        },
        "excluded": [asdict(block) for block in tournament.excluded],
        "available": asdict(tournament.available) if tournament.available else None,
    }


def standing_records(tournament: Tournament) -> list[dict[str, Any]]:
    """The table of the tournament, best first."""
    return [_standing(standing) for standing in tournament.standings]


def _standing(standing: Standing) -> dict[str, Any]:
    record = asdict(standing)
    first = ("competitor", "total_rank", "average_rank", "rank_std", "wins", "blocks")
    return {name: record[name] for name in (*first, *(n for n in record if n not in first))}


def _pair(pair: Pair) -> dict[str, Any]:
    test = pair.wilcoxon
    return {
        "a": pair.a,
        "b": pair.b,
        "p": pair.p,
        "p_holm": pair.p_holm,
        "mean_difference": pair.mean_difference,
        "p_value": test.p_value if test else None,
        "statistic": test.statistic if test else None,
        "method": test.method if test else None,
        "num_nonzero": test.num_nonzero if test else None,
        "rank_difference": pair.rank_difference,
        "wins": pair.wins,
        "ties": pair.ties,
        "losses": pair.losses,
        "p_nemenyi": pair.p_nemenyi,
    }


def _medal(medal: Medal) -> dict[str, Any]:
    derived = {"is_supported": medal.is_supported, "shared_with": medal.shared_with}
    return {**asdict(medal), **derived}


def _stability(stability: RankStability) -> dict[str, Any]:
    return {
        "resampled": stability.resampled,
        **_bootstrap(stability.bootstrap),
        "leave_one_out": [_left_out(one) for one in stability.leave_one_out],
    }


def _bootstrap(bootstrap: RankBootstrap) -> dict[str, Any]:
    names = ("num_groups", "num_blocks", "draws_runs", "replicates", "confidence")
    return {
        **{name: getattr(bootstrap, name) for name in (*names, "is_sensitivity")},
        "competitors": [asdict(found) for found in bootstrap.competitors],
    }


def _left_out(one: LeaveOneOut) -> dict[str, Any]:
    return {
        "left_out": one.left_out,
        "podium": [{"place": place, "competitor": name} for place, name in one.podium],
    }
