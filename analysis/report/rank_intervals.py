"""Uncertainty of ranks: intervals over resampled blocks, and the podium without each block."""

from collections import Counter
from collections.abc import Sequence

from analysis.estimates.grouped_share import FEWEST_GROUPS
from analysis.page.html_page import Cell
from analysis.tournament.rank_bootstrap import (
    FEWEST_RUNS,
    LeaveOneOut,
    RankUncertainty,
)
from analysis.tournament.rank_stability import RankStability
from analysis.wording import listed

_PODIUM = {1: "first", 2: "second", 3: "third"}


def uncertainty_cells(found: RankUncertainty) -> tuple[Cell, Cell, Cell]:
    """Interval, P(first) and P(top 3)."""
    return (
        Cell.interval(found.low, found.high),
        Cell.percent(found.p_first),
        Cell.percent(found.p_top_three),
    )


def bootstrap_note(stability: RankStability) -> str:
    """Where interval and probabilities come from, and how far to trust them."""
    bootstrap = stability.bootstrap
    notes = [
        f"Probabilities: {bootstrap.replicates:,} resamples of {stability.resampled}.",
        _interval_note(stability),
    ]
    if bootstrap.num_groups == 1:
        notes.append("They say what other runs of the same blocks would change, not other blocks.")
    return " ".join(notes)


def _interval_note(stability: RankStability) -> str:
    bootstrap, noun = stability.bootstrap, stability.groups.noun
    if bootstrap.num_groups == 1:
        if bootstrap.is_sensitivity:
            return f"No interval: it takes {FEWEST_RUNS} runs of each competitor."
        return "Intervals: percentiles of these."
    if bootstrap.is_sensitivity:
        return (
            f"No interval: it takes {FEWEST_GROUPS} {noun}s, and with {bootstrap.num_groups} the"
            " probabilities only show how the order depends on single ones."
        )
    return f"Intervals: Wilson's, from how average ranks vary between {noun}s, with Student's t."


def left_out_podiums(stability: RankStability) -> tuple[str, ...]:
    """Who takes the first three ranks when each group of blocks in turn is left out."""
    last = len(stability.bootstrap.competitors)
    if not stability.leave_one_out:
        return ()
    takers = _takers(stability.leave_one_out, [rank for rank in _PODIUM if rank <= last])
    return (f"Leaving out one {stability.groups.noun} at a time: {takers}.",)


def _takers(left_out: Sequence[LeaveOneOut], ranks: Sequence[int]) -> str:
    phrases = []
    for rank in ranks:
        takers = Counter(
            " and ".join(name for found, name in one.podium if found == rank) or "none alone"
            for one in left_out
        )
        counts = sorted(takers.items(), key=lambda item: (-item[1], item[0]))
        if len(counts) == 1:
            phrases.append(f"{counts[0][0]} stays {_PODIUM[rank]}")
        else:
            split = listed(
                [f"{name} ({'once' if n == 1 else f'{n} times'})" for name, n in counts]
            )
            phrases.append(f"rank {rank} goes to {split}")
    return "; ".join(phrases)
