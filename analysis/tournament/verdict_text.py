"""What a tournament found, in plain sentences."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from podium.analysis.hypothesis_tests.pairwise_comparisons import SmallestP
from podium.analysis.hypothesis_tests.skillings_mack import SkillingsMack
from podium.analysis.tournament.block_groups import SHOWN_COLUMNS
from podium.analysis.tournament.medals import Medal, medals
from podium.analysis.tournament.primary_test_text import METHODS, needed_text
from podium.analysis.tournament.rank_stability import RankStability
from podium.analysis.tournament.tournament import Tournament
from podium.analysis.wording import MOST_NAMED, counted, listed, number, p_equals, p_value, percent

_MOST_PAIRS = 6  # named one by one; more are counted
_SHOWN_BLOCKS = 5
_SHOWN_RANKS = 3


def verdict_sentences(tournament: Tournament, stability: RankStability | None) -> list[str]:
    """How sure the order is: tests, medals, resamples, and which blocks are left out."""
    return [
        *_question(tournament),
        *_omnibus(tournament),
        *medal_sentences(tournament, stability),
        *_pairwise(tournament),
        *_resampled(stability),
        *_excluded(tournament),
    ]


def tournament_sentences(tournament: Tournament, stability: RankStability | None) -> list[str]:
    """The verdict, and what else is known of the tests: for answers that have no tables of it."""
    available = tournament.available
    test = available.test if available else None
    return [
        *all_blocks_sentences(tournament),
        *([skillings_mack_sentence(test)] if test else []),
        *verdict_sentences(tournament, stability),
        *_reachable(tournament),
        *_nemenyi(tournament),
    ]


def medal_sentences(tournament: Tournament, stability: RankStability | None) -> Iterator[str]:
    """From rank 1 on, one sentence for neighbours that are supported, one for each shared rank.

    Empty for a single group of blocks, where everything is descriptive.
    """
    if tournament.is_descriptive:
        return
    found = groupby(medals(tournament, stability), key=lambda medal: medal.is_supported)
    for is_supported, neighbours in found:
        if is_supported:
            yield _supported(list(neighbours), tournament)
        else:
            yield from (_shared(medal, tournament) for medal in neighbours)


def shared_first(tournament: Tournament, stability: RankStability | None) -> str:
    """With whom the first has to share rank 1, as a list of names; empty if with none."""
    first, *_ = medals(tournament, stability)
    if tournament.is_descriptive:
        return ""
    return listed(first.shared_with, most=MOST_NAMED)


def _question(tournament: Tournament) -> Iterator[str]:
    """What is asked and counted, where that is not whether it holds beyond single blocks."""
    units, groups = tournament.units, tournament.block_groups
    if tournament.is_descriptive:
        return
    if tournament.question == "these_blocks":
        yield (
            f"{units.question} Tests and resamples count {units.counted}, which all competitors"
            f" share. Nothing is said of other {groups.elsewhere}, and test images stay the same."
        )
        return
    if not groups.columns:
        return
    correlation = tournament.intraclass_correlation
    alone = "".join(
        f", of one {SHOWN_COLUMNS[name].removesuffix('s')} {number(value)}"
        for name, value in tournament.factor_correlations.items()
    )
    alike = (
        "" if correlation is None else f" (intraclass correlation {number(correlation)}{alone})"
    )
    yield (
        f"{units.question} Blocks of one group may repeat each other{alike}, so tests and"
        f" resamples count {groups.counted}, not {len(groups.labels)} blocks."
    )


def _omnibus(tournament: Tournament) -> Iterator[str]:
    friedman, noun = tournament.friedman, tournament.units.noun
    if tournament.is_descriptive:
        asks_elsewhere = tournament.question == "other_blocks"
        yield (
            f"{tournament.units.why_untestable} Everything here is descriptive"
            f"{': seeds and folds are no blocks' if asks_elsewhere else ''}."
        )
        return
    if friedman is None:
        yield "Two competitors: there is one pair to test, and no Friedman or Nemenyi test."
        return
    permuted = friedman.permutation_p_value
    p = friedman.p_value if permuted is None else permuted
    if math.isnan(friedman.statistic):
        scores = "mean scores" if noun == "group" else "scores"
        yield f"All {scores} tie within every {noun}: there is nothing to test."
        return
    test = (
        f"Friedman χ²({friedman.degrees_of_freedom}) = {number(friedman.statistic, 3)},"
        f" {p_equals(p)}{'' if permuted is None else ' by permutation'}; Kendall's W ="
        f" {number(friedman.kendall_w)} (1: all {noun}s agree)"
    )
    if p <= tournament.alpha:
        yield f"The competitors differ significantly: {test}."
    else:
        yield f"The competitors may be equal: {test}. Read the order as a suggestion."


def _pairwise(tournament: Tournament) -> Iterator[str]:
    smallest, alpha, test = tournament.smallest_p, tournament.alpha, tournament.test
    if smallest is None:
        return
    pairs = counted(len(tournament.pairs), "pair")
    if smallest.adjusted > alpha:
        yield (
            f"This design cannot show a difference: with {unit_count(tournament)} no pair can"
            f" differ significantly, however large its gap ({METHODS[test]}, {100 * alpha:g} %)."
            f" {smallest_p_sentence(smallest)} {_needed(tournament)}"
        )
        return
    different = [pair for pair in tournament.pairs if pair.differs(alpha)]
    is_all = len(different) == len(tournament.pairs) > 1
    named = ""
    if 0 < len(different) <= _MOST_PAIRS:
        listing = listed([f"{pair.a} over {pair.b} ({p_equals(pair.p)})" for pair in different])
        named = f": {listing}"
    yield (
        f"{f'All {pairs}' if is_all else f'{len(different)} of {pairs}'} differ significantly"
        f" ({METHODS[test]}, {100 * alpha:g} %){named}."
    )


def unit_count(tournament: Tournament) -> str:
    """The number of units of the tests: ``3 groups``, ``12 blocks``."""
    return counted(tournament.units.number, tournament.units.noun)


def _needed(tournament: Tournament) -> str:
    return needed_text(
        len(tournament.names),
        tournament.alpha,
        tournament.test,
        units=tournament.units,
    )


def smallest_p_sentence(smallest: SmallestP) -> str:
    """How small the p of a pair could be, before and after the adjustment."""
    return (
        "The smallest p any pair could reach with so many is"
        f" {p_value(smallest.raw)} before and {p_value(smallest.adjusted)} after the adjustment."
    )


def _resampled(stability: RankStability | None) -> Iterator[str]:
    if stability is None:
        return
    bootstrap = stability.bootstrap
    winner = bootstrap.competitors[0]
    yield (
        f"Resampling {stability.resampled} leaves {winner.competitor} first in"
        f" {percent(winner.p_first)} of {bootstrap.replicates:,} draws."
    )


def _excluded(tournament: Tournament) -> Iterator[str]:
    excluded = tournament.excluded
    if not excluded:
        return
    named = [f"{block.block} lacks {listed(block.missing)}" for block in excluded[:_SHOWN_BLOCKS]]
    if len(excluded) > _SHOWN_BLOCKS:
        named.append(f"{len(excluded) - _SHOWN_BLOCKS} more")
    blocks = counted(len(excluded), "block")
    yield f"Left out of the ranking for missing scores: {blocks} ({'; '.join(named)})."


def _reachable(tournament: Tournament) -> Iterator[str]:
    """The smallest p that can occur, where the verdict does not name it."""
    smallest = tournament.smallest_p
    if smallest is not None and smallest.adjusted <= tournament.alpha:
        yield smallest_p_sentence(smallest)


def _nemenyi(tournament: Tournament) -> Iterator[str]:
    """Nemenyi's critical difference, and how its verdicts depend on the pool."""
    friedman = tournament.friedman
    if friedman is None or math.isnan(friedman.statistic):
        return
    different = [
        pair
        for pair in tournament.pairs
        if pair.p_nemenyi is not None and pair.p_nemenyi <= tournament.alpha
    ]
    yield " ".join(
        (
            f"Nemenyi: critical difference {number(tournament.critical_difference, 3)} average"
            f" ranks; {len(different)} of"
            f" {counted(len(tournament.pairs), 'pair')} differ significantly. It grows with the"
            " number of competitors.",
            *pool_sentences(tournament),
        )
    )


def pool_sentences(tournament: Tournament) -> Iterator[str]:
    """Nemenyi's verdicts if only the best competitors had taken part."""
    pool = tournament.pool
    if pool is None:
        return
    size, reach = len(pool.pool), number(pool.critical_difference_in_pool, 3)
    if not pool.changed:
        yield f"Among the best {size} alone (CD {reach}) Nemenyi's verdicts would be the same."
        return
    named = [
        f"{change.a} and {change.b} (average ranks {number(change.gap)} apart,"
        f" {number(change.gap_in_pool)} among {size})"
        for change in pool.changed
    ]
    yield (
        f"Nemenyi's verdicts depend on the pool: with the best {size} alone the critical"
        f" difference is {reach} and not {number(pool.critical_difference, 3)}, and the pairs"
        f" that would {'' if pool.changed[0].is_different_in_pool else 'not '}differ are"
        f" {listed(named, most=MOST_NAMED)}."
    )


def all_blocks_sentences(tournament: Tournament) -> Iterator[str]:
    """Who leads over all blocks, if the ranking leaves out those that lack scores."""
    available = tournament.available
    if available is None:
        return
    known = [rank.competitor for rank in available.ranks if rank.rank_sum is not None]
    complete, lacking = len(tournament.blocks), len(tournament.excluded)
    yield (
        f"Over all {complete + lacking} blocks, {lacking} of which"
        f" {'lacks' if lacking == 1 else 'lack'} scores, {known[0]} comes first, before"
        f" {listed(known[1:_SHOWN_RANKS])}, by Skillings and Mack's sum of ranks. The ranking"
        " is of the"
        f" {'one complete block' if complete == 1 else f'{complete} complete blocks'} alone."
    )


def skillings_mack_sentence(test: SkillingsMack) -> str:
    """Skillings and Mack's test over all blocks, those with missing scores too."""
    return (
        f"Skillings–Mack: {number(test.statistic)} with {test.degrees_of_freedom} degrees of"
        f" freedom, {p_equals(test.permutation_p_value)} by permutation over"
        f" {counted(test.num_blocks, 'block')}, also incomplete ones."
    )


def _supported(found: Sequence[Medal], tournament: Tournament) -> str:
    each = "it differs" if len(found) == 1 else "each differs"
    named = listed([f"rank {m.place} of {m.competitor}" for m in found])
    is_are = "is" if len(found) == 1 else "are"
    asks_here = tournament.question == "these_blocks"
    left_out = f", in the resamples, and whichever {tournament.units.noun} is left out"
    return (
        f"{named[0].upper()}{named[1:]} {is_are} supported: {each} from all behind it,"
        f" in the test{' and in the resamples' if asks_here else left_out}."
    )


def _shared(medal: Medal, tournament: Tournament) -> str:
    units = f"{tournament.units.noun}s"
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
    return f"Rank {medal.place} of {medal.competitor} is shared with {others}: {listed(reasons)}."


def _without(medal: Medal, units: str) -> str:
    if medal.num_kept == medal.num_left_out:
        return f"others are level or ahead when single {units} are left out"
    kept = f"{medal.num_kept} of {medal.num_left_out}"
    return f"leaving out single {units} keeps it {kept} times"


def _not_different_text(tournament: Tournament, medal: Medal) -> str:
    smallest = tournament.smallest_p
    if smallest is not None and smallest.adjusted > tournament.alpha:
        return f"with {unit_count(tournament)} no pair can be significantly different"
    if len(medal.not_significantly_different) < len(medal.shared_with):
        return (
            "it is not significantly different from"
            f" {listed(medal.not_significantly_different, most=MOST_NAMED)}"
        )
    return "they are not significantly different"
