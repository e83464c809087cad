"""What a tournament found, in plain sentences."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from analysis.tournament.medals import Medal, medals
from analysis.tournament.primary_test_text import METHODS, needed_text
from analysis.tournament.rank_stability import RankStability
from analysis.tournament.tournament import Tournament
from analysis.wording import MOST_NAMED, counted, listed, percent

__all__ = [
    "medal_sentences",
    "shared_first",
    "tournament_sentences",
]

_SHOWN_BLOCKS = 5
_SHOWN_RANKS = 3
_PLACES = {1: "first", 2: "second", 3: "third"}


def tournament_sentences(tournament: Tournament, stability: RankStability | None) -> list[str]:
    """Tests, medals and what is missing; one paragraph an item, without line breaks."""
    return [
        *_omnibus(tournament),
        *_pairwise(tournament),
        *medal_sentences(tournament, stability),
        *_excluded(tournament),
    ]


def medal_sentences(tournament: Tournament, stability: RankStability | None) -> Iterator[str]:
    """From the first place on, one sentence for neighbours that are supported, one a shared place.

    Empty for a single block, where everything is descriptive; without a last place, which none is
    behind to share.
    """
    if tournament.is_descriptive:
        return
    found = [m for m in medals(tournament, stability) if m.place < len(tournament.standings)]
    for is_supported, neighbours in groupby(found, key=lambda medal: medal.is_supported):
        if is_supported:
            yield _supported(list(neighbours))
        else:
            yield from (_shared(medal, tournament, stability) for medal in neighbours)


def shared_first(tournament: Tournament, stability: RankStability | None) -> str:
    """With whom the first has to share its place, as a list of names; empty if with none."""
    first, *_ = medals(tournament, stability)
    if tournament.is_descriptive:
        return ""
    return listed(first.shared_with, most=MOST_NAMED)


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
        num_different = sum(
            pair.p_nemenyi is not None and pair.p_nemenyi <= alpha for pair in pairs
        )
        yield (
            f"Nemenyi: critical difference {tournament.critical_difference:.3f} average ranks at "
            f"alpha = {alpha:g}; {num_different} of {len(pairs)} pairs significantly "
            f"different. It grows with the number of competitors.{_pool(tournament)}"
        )


def _pool(tournament: Tournament) -> str:
    """How Nemenyi's verdicts depend on the other competitors in the pool."""
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
    num_different = sum(pair.differs(alpha) for pair in pairs)
    yield (
        f"Primary test ({METHODS[tournament.test]}): {num_different} of "
        f"{counted(len(pairs), 'pair')} significantly different at alpha = {alpha:g}."
    )
    reach = f"With {len(tournament.blocks)} blocks no pair can get a p below {smallest.raw:.2g}"
    if tournament.test != "nemenyi":
        reach += f", or {smallest.adjusted:.2g} after Holm over {counted(len(pairs), 'pair')}"
    if smallest.adjusted <= alpha:
        yield f"{reach}: enough blocks for a significant difference."
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


def _supported(found: Sequence[Medal]) -> str:
    each = "it differs" if len(found) == 1 else "each differs"
    named = listed([f"the {_PLACES[m.place]} place of {m.competitor}" for m in found])
    is_are = "is" if len(found) == 1 else "are"
    return (
        f"{named[0].upper()}{named[1:]} {is_are} supported: {each} from all behind it,"
        " in the test, in the resamples, and whichever block is left out."
    )


def _shared(medal: Medal, tournament: Tournament, stability: RankStability | None) -> str:
    is_by_group = stability is not None and stability.left_out is stability.leave_cluster_out
    units = "groups" if is_by_group else "blocks"
    others = listed(medal.shared_with, most=MOST_NAMED)
    reasons = [
        reason
        for names, reason in (
            (medal.not_significantly_different, _not_different_text(tournament, medal)),
            (
                medal.often_ahead,
                f"{medal.competitor} keeps it in {percent(medal.p_place)} of the resamples",
            ),
            (medal.ahead_without, _without(medal, units)),
        )
        if names
    ]
    return (
        f"The {_PLACES[medal.place]} place of {medal.competitor} is shared with {others}:"
        f" {listed(reasons)}."
    )


def _without(medal: Medal, units: str) -> str:
    if medal.num_kept == medal.num_left_out:
        return f"others are level or ahead when single {units} are left out"
    kept = f"{medal.num_kept} of {medal.num_left_out}"
    return f"leaving out single {units} keeps it {kept} times"


def _not_different_text(tournament: Tournament, medal: Medal) -> str:
    smallest = tournament.smallest_p
    if smallest is not None and smallest.adjusted > tournament.alpha:
        return f"with {len(tournament.blocks)} blocks no pair can be significantly different"
    if len(medal.not_significantly_different) < len(medal.shared_with):
        return (
            "it is not significantly different from"
            f" {listed(medal.not_significantly_different, most=MOST_NAMED)}"
        )
    return "they are not significantly different"
