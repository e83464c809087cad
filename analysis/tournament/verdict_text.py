"""A tournament in sentences: who is first, what the test found, and what it cannot say.

A setting is a block, as papers call it: data set x backbone x embedding dimension.
"""

from collections.abc import Iterator, Sequence

from podium.analysis.hypothesis_tests.pairwise_comparisons import Pair
from podium.analysis.tournament.classic_tests import classic_sentences
from podium.analysis.tournament.tournament import Tournament
from podium.analysis.wording import MOST_NAMED, counted, listed, number, p_equals

_MOST_PAIRS = 6  # named one by one; more are counted
_SHOWN_BLOCKS = 5
_SHOWN_RANKS = 3


def headline(tournament: Tournament, *, metric: str, scale: float = 1) -> str:
    """Who is first and by how much, then whether that was tested, and what came of it.

    Where blocks lack scores, the order over all of them comes before that of the complete ones.

    Args:
        tournament: the tournament.
        metric: what the scores are.
        scale: factor from the scores of the tournament to points.
    """
    tested = (
        [*separated_sentences(tournament), *_other_pairs(tournament)]
        if tournament.is_tested
        else [tournament.units.why_untested]
    )
    return " ".join((*_all_blocks(tournament), _leader(tournament, metric, scale), *tested))


def _other_pairs(tournament: Tournament) -> Iterator[str]:
    """Pairs that differ, where no difference to the leader does: a gap need not be a sure one."""
    different = [pair for pair in tournament.pairs if pair.differs(tournament.rules.alpha)]
    leader = tournament.names[0]
    if different and not any(leader in (pair.a, pair.b) for pair in different):
        yield f"Significant is {listed(list(map(_over, different)), most=MOST_NAMED)}."


def separated_sentences(tournament: Tournament) -> Iterator[str]:
    """From which others the leader, or the one that all are compared with, differs."""
    subject = tournament.rules.against or tournament.names[0]
    opponents: dict[str, list[str]] = {
        f"is {how} {word} than": []
        for how in ("significantly", "not shown to be")
        for word in ("better", "worse")
    }
    alike: list[str] = []
    for pair in tournament.pairs:
        if subject not in (pair.a, pair.b):
            continue
        other = pair.b if pair.a == subject else pair.a
        if pair.p is None:
            alike.append(other)
            continue
        is_behind = pair.mean_difference * (1 if pair.a == subject else -1) < 0
        is_told = pair.differs(tournament.rules.alpha)
        how = "significantly" if is_told else "not shown to be"
        is_behind &= is_told or tournament.rules.against is not None  # a leader is worse than none
        said = f"is {how} {'worse' if is_behind else 'better'} than"
        opponents[said].append(f"{other} ({p_equals(pair.p)})")
    opening = subject
    for said, names in opponents.items():
        if not names:
            continue
        every = len(names) == len(tournament.names) - 1 > 1
        yield f"{opening} {said} {_everyone(names) if every else listed(names, most=MOST_NAMED)}."
        opening = "It"
    if alike:
        yield (
            f"The difference to {listed(alike, most=MOST_NAMED)} is the same in every"
            f" {tournament.units.noun}, which does not say how sure it is: it is not tested."
        )


def _everyone(names: Sequence[str]) -> str:
    return listed(names) if len(names) <= _SHOWN_RANKS else f"any of the {len(names)} others"


def verdict_sentences(tournament: Tournament) -> list[str]:
    """What was asked, what the test found, who leads without each data set, what was left out."""
    return [
        *_asked(tournament),
        *_significant(tournament),
        *_left_out(tournament),
        *classic_sentences(tournament),
        *_excluded(tournament),
    ]


def _leader(tournament: Tournament, metric: str, scale: float) -> str:
    first = [s for s in tournament.standings if s.place == 1]
    count, blocks = len(tournament.names), len(tournament.blocks)
    settings, rank = counted(blocks, "setting"), number(first[0].average_rank)
    if len(first) > 1:
        names = listed([standing.competitor for standing in first], most=MOST_NAMED)
        over = "in the one setting" if blocks == 1 else f"over {settings}"
        return f"{names} tie for first of {count} {over}, with an average rank of {rank}."
    winner, second = first[0], tournament.standings[1]
    gap = scale * (winner.mean_score - second.mean_score)
    if winner.wins < blocks:
        wins = f"best in {winner.wins} of {settings}"
        is_first = f"has the best average rank of {count}, {rank}: {wins}"
    else:
        is_first = "is first in " + ("the one setting" if blocks == 1 else f"all {settings}")
    side = "above" if gap >= 0 else "below"
    average = "" if blocks == 1 else "on average "
    are_parts = scale * max(abs(s.mean_score) for s in tournament.standings) <= 1  # of one
    size = f"{number(abs(gap), 3)}" if are_parts else f"{number(abs(gap), 1)} points"
    lead = f"{average}{size} of {metric} {side} {second.competitor}"
    return f"{winner.competitor} {is_first}, {lead}."


def _asked(tournament: Tournament) -> Iterator[str]:
    """The question and the unit of the test."""
    units = tournament.units
    if not tournament.is_tested:
        return
    size = len(units.labels) // units.number
    each = f", each by its mean over {'about ' if len(units.labels) % units.number else ''}{size}"
    of_each = f"{each} settings" if size > 1 else ""
    if tournament.rules.question == "these_blocks":
        of_each = f" of {counted(len(tournament.blocks), 'setting')}"
    pairs = counted(len(tournament.pairs), "pair")
    yield (
        f"{units.question} The test counts {units.counted}{of_each}: exact flips of signs,"
        f" p adjusted for {pairs}, level {100 * tournament.rules.alpha:g} %."
    )
    if tournament.rules.question == "these_blocks":
        yield "Nothing is said of other data sets or backbones; test images stay the same."


def _significant(tournament: Tournament) -> Iterator[str]:
    if not tournament.is_tested:
        return
    pairs = tournament.pairs
    different = [pair for pair in pairs if pair.differs(tournament.rules.alpha)]
    if not different:
        least = min((pair.p for pair in pairs if pair.p is not None), default=None)
        smallest = "" if least is None else f"; the smallest {p_equals(least)}"
        yield f"No pair differs significantly{smallest}."
        return
    named = f": {listed(list(map(_over, different)))}" if len(different) <= _MOST_PAIRS else ""
    count = "All" if len(different) == len(pairs) > 1 else f"{len(different)} of"
    yield f"{count} {counted(len(pairs), 'pair')} differ significantly{named}."


def _over(pair: Pair) -> str:
    ahead, behind = (pair.a, pair.b) if pair.mean_difference > 0 else (pair.b, pair.a)
    return f"{ahead} over {behind} ({p_equals(pair.p)})"


def _left_out(tournament: Tournament) -> Iterator[str]:
    """Who leads when each data set, else backbone, else block is left out."""
    without = tournament.leaders_without
    first = tuple(s.competitor for s in tournament.standings if s.place == 1)
    if not without:
        return
    changed = {label: names for label, names in without.items() if set(names) != set(first)}
    if not changed:
        stays = "stays" if len(first) == 1 else "stay"
        any_one = listed(tuple(without), last="or", most=MOST_NAMED)
        yield f"{listed(first)} {stays} first without any one of {any_one}."
        return
    named = [f"{listed(names)} without {label}" for label, names in changed.items()]
    yield (
        f"Leaving out one of {len(without)} changes who is first in"
        f" {counted(len(changed), 'case')}: {listed(named, most=MOST_NAMED)}."
    )


def _excluded(tournament: Tournament) -> Iterator[str]:
    excluded = tournament.excluded
    if not excluded:
        return
    named = [f"{block} lacks {listed(missing)}" for block, missing in excluded.items()]
    named = named[:_SHOWN_BLOCKS]
    if len(excluded) > _SHOWN_BLOCKS:
        named.append(f"{len(excluded) - _SHOWN_BLOCKS} more")
    settings = counted(len(excluded), "setting")
    yield f"Left out of the ranking for missing scores: {settings} ({'; '.join(named)})."


def _all_blocks(tournament: Tournament) -> Iterator[str]:
    """Who leads over all blocks, if the ranking leaves out those that lack scores."""
    known = [rank.competitor for rank in tournament.available if rank.rank_sum is not None]
    if not known:
        return
    complete, lacking = len(tournament.blocks), len(tournament.excluded)
    yield (
        f"Over all {complete + lacking} settings, {lacking} of which"
        f" {'lacks' if lacking == 1 else 'lack'} scores, {known[0]} comes first, before"
        f" {listed(known[1:_SHOWN_RANKS])}. Among those with all scores:"
    )
