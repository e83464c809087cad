"""The places of a tournament, the first three above all, and with whom each is shared."""

from dataclasses import dataclass

from podium.analysis.estimates.ranks import Standing
from podium.analysis.tournament.rank_stability import RankStability
from podium.analysis.tournament.tournament import Tournament

_MEDALS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Medal:
    """A place and the evidence against it.

    The three groups name competitors placed no better. A medal is supported if all are empty;
    else it is shared.

    Attributes:
        place: place by total rank.
        competitor: name of the competitor that takes the place.
        not_significantly_different: competitors that do not differ by the primary test.
        often_ahead: competitors that take the place in the resamples, if it is kept in less than
            95 % of them.
        ahead_without: competitors that are ahead or level when some block is left out.
        p_place: probability of this place or a better one; None if nothing was resampled.
        num_kept: number of the ``num_left_out`` times that the place is kept, ties included.
        num_left_out: number of times that a group of blocks was left out.
    """

    place: int
    competitor: str
    not_significantly_different: tuple[str, ...]
    often_ahead: tuple[str, ...]
    ahead_without: tuple[str, ...]
    p_place: float | None
    num_kept: int
    num_left_out: int

    @property
    def shared_with(self) -> tuple[str, ...]:
        """The competitors of the three groups, in their order, each once."""
        groups = (*self.not_significantly_different, *self.often_ahead, *self.ahead_without)
        return tuple(dict.fromkeys(groups))

    @property
    def is_supported(self) -> bool:
        """Whether the place is shared with none."""
        return not self.shared_with


def medals(tournament: Tournament, stability: RankStability | None) -> tuple[Medal, ...]:
    """Those of the first three places that have competitors placed no better, best first.

    A place is supported if its competitor is significantly different from each of them by the
    primary test, it is kept in at least 95 % of the resamples, and no single group of blocks
    decides it. One of the three is not enough: a test ignores runs, and few groups resampled look
    more alike than new ones would.

    Args:
        tournament: ranking with the verdicts of the primary test.
        stability: resampled ranks of the tournament; None if nothing could be resampled.
    """
    return tuple(medal for medal in _places(tournament, stability) if medal.place <= _MEDALS)


def shared_places(
    tournament: Tournament, stability: RankStability | None
) -> dict[str, tuple[str, ...]]:
    """Holder of each shared place, whichever it is -> the competitors that share it.

    Empty for a single group of blocks, which is descriptive.
    """
    if tournament.is_descriptive:
        return {}
    return {
        medal.competitor: medal.shared_with
        for medal in _places(tournament, stability)
        if not medal.is_supported
    }


def rank_ranges(tournament: Tournament, stability: RankStability | None) -> dict[str, range]:
    """Competitor -> the ranks of all that share its own, from the best to the worst of them.

    A single rank where none shares it; all ranks where no pair can differ significantly.
    """
    if not tournament.can_differ:
        return dict.fromkeys(tournament.names, range(1, len(tournament.names) + 1))
    places = {standing.competitor: standing.place for standing in tournament.standings}
    sharing = {name: {name} for name in places}
    for holder, others in shared_places(tournament, stability).items():
        for other in others:
            sharing[holder].add(other)
            sharing[other].add(holder)
    held = {name: [places[other] for other in others] for name, others in sharing.items()}
    return {name: range(min(ranks), max(ranks) + 1) for name, ranks in held.items()}


def _places(tournament: Tournament, stability: RankStability | None) -> tuple[Medal, ...]:
    return tuple(
        _medal(tournament, stability, standing, rivals)
        for standing in tournament.standings
        if (rivals := _no_better(tournament, standing))
    )


def _no_better(tournament: Tournament, standing: Standing) -> list[str]:
    return [
        other.competitor
        for other in tournament.standings
        if other is not standing and other.place >= standing.place
    ]


def _medal(
    tournament: Tournament,
    stability: RankStability | None,
    standing: Standing,
    rivals: list[str],
) -> Medal:
    name, place = standing.competitor, standing.place
    left_out = stability.leave_one_out if stability else ()
    without = [{who: where for where, who in one.places} for one in left_out]
    caught = {r for places in without for r in rivals if places[r] <= places[name]}
    return Medal(
        place=place,
        competitor=name,
        not_significantly_different=tuple(
            rival for rival in rivals if frozenset((name, rival)) not in tournament.different
        ),
        often_ahead=_often_ahead(tournament, stability, standing, rivals),
        ahead_without=tuple(rival for rival in rivals if rival in caught),
        p_place=_p_place(tournament, stability, standing),
        num_kept=sum(places[name] <= place for places in without),
        num_left_out=len(without),
    )


def _p_place(
    tournament: Tournament, stability: RankStability | None, standing: Standing
) -> float | None:
    if stability is None:
        return None
    column = tournament.names.index(standing.competitor)
    return float(stability.bootstrap.place_probability_CC[column, : standing.place].sum())


def _often_ahead(
    tournament: Tournament, stability: RankStability | None, standing: Standing, rivals: list[str]
) -> tuple[str, ...]:
    p_place = _p_place(tournament, stability, standing)
    if stability is None or p_place is None or p_place >= stability.bootstrap.confidence:
        return ()
    # A place is lost only to someone behind: if each of them overtook in less than its part of
    # 5 % of the resamples, the place would be kept in 95 %. So one is always named.
    share = (1 - stability.bootstrap.confidence) / len(rivals)
    column = tournament.names.index(standing.competitor)
    ahead = dict(zip(tournament.names, stability.bootstrap.ahead_CC[:, column], strict=True))
    return tuple(rival for rival in rivals if ahead[rival] > share)
