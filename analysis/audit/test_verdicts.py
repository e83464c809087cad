"""What each test says of a table, and how far its podium depends on single blocks."""

from collections import Counter
from collections.abc import Iterator

from analysis.audit.audit_findings import Finding
from analysis.tournament.rank_stability import RankStability, rank_stability
from analysis.tournament.test_sensitivity import multiverse
from analysis.tournament.test_sensitivity_text import agreement_text, medals_text
from analysis.tournament.tournament import Tournament
from analysis.tournament.tournament_text import tournament_sentences
from analysis.wording import counted, listed, percent

__all__ = ["verdict_notes"]

_PLACES = 3
_SURE = 0.99  # of a medal: competitors between this and its opposite are named
_ORDINALS = {1: "first", 2: "second", 3: "third"}


def verdict_notes(tournament: Tournament, *, where: str) -> Iterator[Finding]:
    """The verdict under each test, then the stability of the podium, one sentence each.

    Args:
        tournament: held on the table.
        where: which scores it is of.
    """
    stability = rank_stability(tournament)
    for sentence in tournament_sentences(tournament, stability):
        yield Finding(kind="verdict", where=where, message=sentence.rstrip("."))
    found = multiverse(tournament)
    if found is not None:
        for test in found.tests:
            message = (
                f"{test.label}: {len(test.apart)} of {counted(found.num_pairs, 'pair')} told"
                f" apart; places {medals_text(test)}"
            )
            yield Finding(kind="verdict", where=where, message=message)
        yield Finding(kind="verdict", where=where, message=agreement_text(found).rstrip("."))
    if stability is not None:
        for sentence in (*_left_out(stability), *_resampled(stability)):
            yield Finding(kind="stability", where=where, message=sentence)


def _left_out(stability: RankStability) -> Iterator[str]:
    """Who holds each place without each block in turn."""
    total = len(stability.leave_one_out)
    for place in range(1, _PLACES + 1):
        holders = Counter(
            name for left in stability.leave_one_out for held, name in left.podium if held == place
        )
        ranked = sorted(holders.items(), key=lambda item: (-item[1], item[0]))
        if not ranked:
            continue
        if ranked[0][1] == total and len(ranked) == 1:
            yield (
                f"the {_ORDINALS[place]} place stays with {ranked[0][0]} whichever of"
                f" {counted(total, 'block')} is left out"
            )
        else:
            named = listed([f"{name} {count} times" for name, count in ranked])
            yield (
                f"leaving out one of {counted(total, 'block')} gives the {_ORDINALS[place]} place"
                f" to {named}"
            )


def _resampled(stability: RankStability) -> Iterator[str]:
    leading = stability.leading
    unsure = [
        f"{each.competitor} {percent(each.p_top_three)}"
        for each in leading.competitors
        if 1 - _SURE < each.p_top_three < _SURE
    ]
    how = (
        f"resampling the {stability.resampled} {leading.replicates:,} times"
        f"{' (a sensitivity analysis: too few for an interval)' if leading.is_sensitivity else ''}"
    )
    if unsure:
        yield f"{how}: a place among the first three has {listed(unsure)}"
    else:
        yield f"{how}: the first three are the same in 99 % of draws or more"
