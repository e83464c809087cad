"""What a tournament found, in plain sentences."""

import math
from collections.abc import Iterator

from analysis.tournament.medal_text import medal_sentences
from analysis.tournament.primary_test_text import METHODS, needed_text
from analysis.tournament.rank_stability import RankStability
from analysis.tournament.tournament import Tournament
from analysis.wording import counted, listed

__all__ = ["tournament_sentences"]

_SHOWN_BLOCKS = 5
_SHOWN_RANKS = 3


def tournament_sentences(tournament: Tournament, stability: RankStability | None) -> list[str]:
    """Tests, medals and what is missing; one paragraph an item, without line breaks."""
    return [
        *_omnibus(tournament),
        *_pairwise(tournament),
        *medal_sentences(tournament, stability),
        *_excluded(tournament),
    ]


def _omnibus(tournament: Tournament) -> Iterator[str]:
    friedman, alpha = tournament.friedman, tournament.alpha
    if tournament.is_descriptive:
        yield (
            "One block shows an order but supports no test: everything here is descriptive. "
            "Seeds and folds are no blocks."
        )
    elif friedman is None:
        yield "Two competitors: only the test below applies, no Friedman, no Nemenyi."
    elif math.isnan(friedman.statistic):
        yield "All scores tie within every block: there is nothing to rank, and no test to make."
    else:
        permuted = (
            f"; by permutation p = {friedman.permutation_p_value:.2g}"
            if friedman.permutation_p_value is not None
            else ""
        )
        yield (
            f"Friedman: chi-square {friedman.statistic:.3f}, {friedman.degrees_of_freedom} "
            f"degrees of freedom, p = {friedman.p_value:.2g}{permuted}. "
            f"Kendall's W = {friedman.kendall_w:.2f} (1: all blocks agree)."
        )
        pairs = tournament.pairs
        apart = sum(pair.p_nemenyi is not None and pair.p_nemenyi <= alpha for pair in pairs)
        yield (
            f"Nemenyi: critical difference {tournament.critical_difference:.3f} average ranks at "
            f"alpha = {alpha:g}; it separates {apart} of {len(pairs)} pairs. It grows with the "
            f"number of competitors.{_pool(tournament)}"
        )


def _pool(tournament: Tournament) -> str:
    """What Nemenyi's verdicts owe to the others in the pool."""
    pool = tournament.pool
    if pool is None:
        return ""
    size = len(pool.pool)
    reach = f"critical difference {pool.critical_difference_in_pool:.3f}"
    if not pool.changed:
        return f" Among the best {size} alone ({reach}) no verdict is another one."
    named = listed(
        [
            f"{change.a} and {change.b} (gap {change.gap:.3f}, {change.gap_in_pool:.3f} there)"
            for change in pool.changed
        ]
    )
    return f" Among the best {size} alone ({reach}) the verdict is another one on {named}."


def _pairwise(tournament: Tournament) -> Iterator[str]:
    smallest, alpha, pairs = tournament.smallest_p, tournament.alpha, tournament.pairs
    if smallest is None:
        return
    apart = sum(pair.differs(alpha) for pair in pairs)
    yield (
        f"Primary test ({METHODS[tournament.test]}): separates {apart} of "
        f"{counted(len(pairs), 'pair')} at alpha = {alpha:g}."
    )
    reach = f"With {len(tournament.blocks)} blocks no pair can get a p below {smallest.raw:.2g}"
    if tournament.test != "nemenyi":
        reach += f", or {smallest.adjusted:.2g} after Holm over {counted(len(pairs), 'pair')}"
    if smallest.adjusted <= alpha:
        yield f"{reach}: enough blocks for a difference to show."
    else:
        yield (
            f"{reach}: no difference can be significant at alpha = {alpha:g}, whatever the "
            f"scores. {needed_text(len(tournament.names), alpha, tournament.test)}"
        )


def _excluded(tournament: Tournament) -> Iterator[str]:
    excluded = tournament.excluded
    if not excluded:
        return
    named = [f"{block.block} (no {', '.join(block.missing)})" for block in excluded]
    more = f" and {len(named) - _SHOWN_BLOCKS} more" if len(named) > _SHOWN_BLOCKS else ""
    yield (
        f"{len(excluded)} incomplete {'block is' if len(excluded) == 1 else 'blocks are'} left "
        f"out: {'; '.join(named[:_SHOWN_BLOCKS])}{more}."
    )
    available = tournament.available
    if available is not None and available.test is not None:
        test = available.test
        yield (
            f"All {test.num_blocks} blocks with two scores or more, by Skillings and Mack: "
            f"statistic {test.statistic:.3f}, {test.degrees_of_freedom} degrees of freedom, by "
            f"permutation p = {test.permutation_p_value:.2g}. Least beaten there: "
            f"{', '.join(rank.competitor for rank in available.ranks[:_SHOWN_RANKS])}."
        )
