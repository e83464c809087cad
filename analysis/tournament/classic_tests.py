"""The classic tests over blocks, for who reports them: Wilcoxon with Holm, Friedman, Nemenyi.

They decide nothing: blocks of one data set repeat each other, which these tests do not allow for.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from itertools import combinations
from typing import Any

from podium.analysis.hypothesis_tests.friedman import friedman_test
from podium.analysis.hypothesis_tests.nemenyi import (
    critical_difference,
    nemenyi_groups,
    nemenyi_p_value,
)
from podium.analysis.hypothesis_tests.pairwise_comparisons import holm
from podium.analysis.hypothesis_tests.wilcoxon import signed_rank_p
from podium.analysis.tournament.tournament import Tournament
from podium.analysis.wording import counted, listed, number, p_equals

_MOST_PAIRS = 6  # named one by one; more are counted


def assumption(tournament: Tournament) -> str:
    """What the classic tests assume."""
    blocks = counted(len(tournament.blocks), "setting")
    return f"It takes the {blocks} for independent, though those of one data set are alike."


def classic_record(tournament: Tournament) -> dict[str, Any] | None:
    """All three tests as plain values; None with one block, parts of it with two competitors."""
    if len(tournament.blocks) < 2:
        return None
    has_three = len(tournament.names) > 2
    return {
        "assumes": assumption(tournament),
        "friedman": asdict(friedman_test(tournament.ranks_BC)) if has_three else None,
        "critical_difference": _reach(tournament) if has_three else None,
        "pairs": _pairs(tournament),
    }


def classic_sentences(tournament: Tournament) -> Iterator[str]:
    """The test that was asked for, and what it assumes; nothing if none was."""
    test, blocks = tournament.rules.test, len(tournament.blocks)
    if test is None:
        return
    if blocks < 2:
        yield f"{_LABELS[test]}: one setting supports no test."
        return
    yield f"{_LABELS[test]}: {_SAID[test](tournament)} {assumption(tournament)}"


def nemenyi_diagram(tournament: Tournament) -> tuple[float, list[list[str]]]:
    """Nemenyi's critical difference, and the groups of which no two are that far apart."""
    reach = _reach(tournament)
    ranks = [standing.average_rank for standing in tournament.standings]
    groups = nemenyi_groups(ranks, reach)
    return reach, [[tournament.names[c] for c in group] for group in groups]


def _reach(tournament: Tournament) -> float:
    counts = len(tournament.names), len(tournament.blocks)
    return critical_difference(*counts, tournament.rules.alpha)


def _pairs(tournament: Tournament) -> list[dict[str, Any]]:
    """Each pair of competitors, the better placed first."""
    raw = [signed_rank_p(a_B, b_B) for a_B, b_B in combinations(tournament.scores_BC.T, 2)]
    counts = len(tournament.names), len(tournament.blocks)
    return [
        {
            "a": a.competitor,
            "b": b.competitor,
            "p_wilcoxon": p_wilcoxon,
            "p_holm": p_holm,
            "p_nemenyi": nemenyi_p_value(a.average_rank - b.average_rank, *counts)
            if counts[0] > 2
            else None,
        }
        for (a, b), p_wilcoxon, p_holm in zip(
            combinations(tournament.standings, 2), raw, holm(raw), strict=True
        )
    ]


def _friedman(tournament: Tournament) -> str:
    found = friedman_test(tournament.ranks_BC)
    if math.isnan(found.statistic):
        return "all scores tie."
    permuted = found.permutation_p_value
    p = found.p_value if permuted is None else permuted
    return (
        f"χ²({found.degrees_of_freedom}) = {number(found.statistic, 3)}, {p_equals(p)}"
        f"{'' if permuted is None else ' by permutation'}, Kendall's W ="
        f" {number(found.kendall_w)}."
    )


def _nemenyi(tournament: Tournament) -> str:
    reach = number(_reach(tournament))
    return f"critical difference {reach} average ranks; {_significant(tournament, 'p_nemenyi')}"


def _significant(tournament: Tournament, name: str) -> str:
    pairs = _pairs(tournament)
    found = [pair for pair in pairs if pair[name] <= tournament.rules.alpha]
    said = f"{len(found)} of {counted(len(pairs), 'pair')} differ significantly"
    if not 0 < len(found) <= _MOST_PAIRS:
        return f"{said}."
    named = [f"{it['a']} over {it['b']} ({p_equals(it[name])})" for it in found]
    return f"{said}: {listed(named)}."


_LABELS = {"wilcoxon_holm": "Wilcoxon with Holm", "friedman": "Friedman", "nemenyi": "Nemenyi"}
_SAID: dict[str, Callable[[Tournament], str]] = {
    "wilcoxon_holm": partial(_significant, name="p_holm"),
    "friedman": _friedman,
    "nemenyi": _nemenyi,
}
