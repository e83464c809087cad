"""A tournament in plain sentences: who won, by how much, how sure."""

from analysis.tournament.medal_text import medal_sentences, shared_first
from analysis.tournament.primary_test_text import METHODS, adjusted_word
from analysis.tournament.rank_stability import RankStability
from analysis.tournament.tournament import Tournament
from analysis.wording import counted, listed, number, p_equals, p_value, percent

__all__ = ["headline", "verdict"]

_MOST_PAIRS = 6  # named one by one; more are counted


def headline(
    tournament: Tournament,
    stability: RankStability | None,
    *,
    metric: str,
    unit: str = "points",
) -> str:
    """The one sentence that answers the question; it says with whom a first place is shared."""
    first = [s for s in tournament.standings if s.place == 1]
    blocks = counted(len(tournament.blocks), "block")
    count = len(tournament.names)
    if len(first) > 1:
        names = listed([standing.competitor for standing in first])
        return (
            f"{names} share the first place of {count} over {blocks}, with an average rank of"
            f" {number(first[0].average_rank)}."
        )
    winner, second = first[0], tournament.standings[1]
    gap = winner.mean_score - second.mean_score
    wins = "all" if winner.wins == winner.blocks else str(winner.wins)
    best = "" if tournament.is_descriptive else f" best in {wins} of them,"
    lead = f"{number(abs(gap), 1)} {unit} of {metric} {'above' if gap >= 0 else 'below'}"
    shared = shared_first(tournament, stability)
    is_first = (
        f"leads {count} over {blocks}, but shares the first place with {shared}"
        if shared
        else f"is first of {count} over {blocks}"
    )
    return (
        f"{winner.competitor} {is_first}: average rank"
        f" {number(winner.average_rank)},{best} and on average {lead} the next,"
        f" {second.competitor}."
    )


def verdict(tournament: Tournament, stability: RankStability | None) -> tuple[str, ...]:
    """How sure the order is, strongest statement first."""
    sentences = [
        _omnibus(tournament),
        *medal_sentences(tournament, stability),
        _pairs(tournament),
        _resampled(stability) if stability else "",
        _left_out(tournament),
    ]
    return tuple(sentence for sentence in sentences if sentence)


def _omnibus(tournament: Tournament) -> str:
    if tournament.is_descriptive:
        return "One block shows an order but supports no test."
    if tournament.friedman is None:
        return ""
    friedman = tournament.friedman
    p = friedman.p_value if friedman.permutation_p_value is None else friedman.permutation_p_value
    if p != p:
        return "All scores tie within every block: there is nothing to rank."
    how = "" if friedman.permutation_p_value is None else " by permutation"
    test = (
        f"Friedman χ²({friedman.degrees_of_freedom}) = {number(friedman.statistic)},"
        f" {p_equals(p)}{how}"
    )
    if p <= tournament.alpha:
        return f"The competitors differ: {test}."
    return f"The competitors may all be alike: {test}. Read the order below as a suggestion."


def _pairs(tournament: Tournament) -> str:
    smallest = tournament.smallest_p
    if smallest is None:
        return ""
    blocks = counted(len(tournament.blocks), "block")
    if smallest.adjusted > tournament.alpha:
        return (
            f"With {blocks} no pair can be told apart, however large its gap: the smallest"
            f" {adjusted_word(tournament.test)} p that can occur is"
            f" {p_value(smallest.adjusted)}. Add blocks."
        )
    different = [pair for pair in tournament.pairs if pair.differs(tournament.alpha)]
    pairs = counted(len(tournament.pairs), "pair")
    share = f"All {pairs}" if len(different) == len(tournament.pairs) > 1 else None
    sentence = (
        f"{share or f'{len(different)} of {pairs}'} differ ({METHODS[tournament.test]},"
        f" {100 * tournament.alpha:g} %)"
    )
    if different and len(different) <= _MOST_PAIRS:
        named = listed([f"{pair.a} over {pair.b} ({p_equals(pair.p)})" for pair in different])
        sentence += f": {named}"
    return f"{sentence}."


def _resampled(stability: RankStability) -> str:
    leading = stability.leading
    winner = leading.competitors[0]
    return (
        f"Resampling {stability.resampled} leaves {winner.competitor} first"
        f" in {percent(winner.p_first)} of {leading.replicates:,} draws."
    )


def _left_out(tournament: Tournament) -> str:
    if not tournament.excluded:
        return ""
    named = "; ".join(
        f"{block.block} lacks {listed(block.missing)}" for block in tournament.excluded
    )
    blocks = counted(len(tournament.excluded), "block")
    return f"Left out of the ranking for missing scores: {blocks} ({named})."
