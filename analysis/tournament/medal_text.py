"""The first places in sentences: which are supported, and with whom the others are shared."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from analysis.tournament.medals import Medal, medals
from analysis.tournament.rank_stability import RankStability
from analysis.tournament.tournament import Tournament
from analysis.wording import MOST_NAMED, listed, percent

__all__ = ["medal_sentences", "shared_first"]

_PLACES = {1: "first", 2: "second", 3: "third"}


def medal_sentences(tournament: Tournament, stability: RankStability | None) -> Iterator[str]:
    """From the first place on, one sentence for neighbours that are supported, one a shared place.

    None for a single block, where everything is descriptive, nor for a last place, which nobody
    is behind to share.
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
    """With whom the sole first has to share its place, as a list of names; empty if nobody."""
    first, *_ = medals(tournament, stability)
    if tournament.is_descriptive:
        return ""
    return listed(first.shared_with, most=MOST_NAMED)


def _supported(found: Sequence[Medal]) -> str:
    each = "it differs" if len(found) == 1 else "each differs"
    named = listed([f"the {_PLACES[m.place]} place of {m.competitor}" for m in found])
    is_are = "is" if len(found) == 1 else "are"
    return (
        f"{named[0].upper()}{named[1:]} {is_are} supported: {each} from everyone behind it,"
        " in the test, in the resamples, and whichever block is left out."
    )


def _shared(medal: Medal, tournament: Tournament, stability: RankStability | None) -> str:
    is_by_group = stability is not None and stability.left_out is stability.leave_cluster_out
    units = "groups" if is_by_group else "blocks"
    others = listed(medal.shared_with, most=MOST_NAMED)
    reasons = [
        reason
        for names, reason in (
            (medal.not_told_apart, _untold(tournament, medal)),
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


def _untold(tournament: Tournament, medal: Medal) -> str:
    smallest = tournament.smallest_p
    if smallest is not None and smallest.adjusted > tournament.alpha:
        return f"with {len(tournament.blocks)} blocks the test can tell nobody apart"
    if len(medal.not_told_apart) < len(medal.shared_with):
        return f"the test cannot tell it from {listed(medal.not_told_apart, most=MOST_NAMED)}"
    return "the test cannot tell them apart"
