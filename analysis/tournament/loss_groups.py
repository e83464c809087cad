"""Groups of competitors beside each other, such as losses on embeddings and on class weights."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from podium.analysis.estimates.confidence_intervals import Interval
from podium.analysis.tournament.tournament import Tournament
from podium.errors import PodiumError

_BY_KIND: Mapping[str, tuple[str, ...]] = {
    "losses on embeddings": ("pair", "triplet", "tuple", "ranking", "continuous"),
    "classification and proxy losses": ("proxy", "classification"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LossGroup:
    """Competitors that are taken together; B blocks.

    Attributes:
        name: name of the group.
        members: its ranked competitors, best average rank first.
        rank: mean over blocks of the mean rank of its members, 1 is best, among all C
            competitors; its interval is cut to 1 to C.
        score: mean over blocks of their mean score, in the unit of the tournament.
        best_score: mean score of the first of ``members``.
    """

    name: str
    members: tuple[str, ...]
    rank: Interval
    score: Interval
    best_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LossGroups:
    """Groups by mean rank, best first, and differences of their mean scores, over blocks.

    Intervals are over the units of a test (`Units.interval`), for these competitors: they say
    how far other data sets may differ, not other losses of a group. Without a test there is none.
    A difference is the better placed group, the other, and the former minus the latter.
    ``ungrouped`` are the competitors in no group, best first.
    """

    groups: tuple[LossGroup, ...]
    differences: tuple[tuple[str, str, Interval], ...]
    ungrouped: tuple[str, ...]


def groups_by_kind(kinds: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Losses on embeddings, and those on class weights or proxies; other kinds are in neither."""
    return {
        name: tuple(loss for loss, kind in kinds.items() if kind in of_group)
        for name, of_group in _BY_KIND.items()
    }


def check_groups(groups: Mapping[str, Sequence[str]], known: Collection[str]) -> None:
    """Refuse groups that cannot be compared.

    Raises:
        PodiumError: fewer than two groups, an unknown competitor, or one in two groups.
    """
    if len(groups) < 2:
        raise PodiumError(f"groups are compared with each other; got one, {', '.join(groups)}")
    of: dict[str, str] = {}
    for name, members in groups.items():
        for member in members:
            if member not in known:
                listed = ", ".join(sorted(known))
                raise PodiumError(
                    f"the group {name} must hold competitors among {listed}; got {member!r}"
                )
            if (other := of.setdefault(member, name)) != name:
                raise PodiumError(f"{member} is in two groups, {other} and {name}")


def compare_groups(
    tournament: Tournament, groups: Mapping[str, Sequence[str]]
) -> LossGroups | None:
    """Mean rank and score of each group; None unless two groups have a ranked competitor.

    Within a block every competitor of a group counts the same, and so does every block. A name
    that was not ranked is left out.
    """
    columns = {
        name: [c for c, competitor in enumerate(tournament.names) if competitor in members]
        for name, members in groups.items()
    }
    columns = {name: found for name, found in columns.items() if found}
    if len(columns) < 2:
        return None
    interval = tournament.block_units.interval
    scores = {name: tournament.scores_BC[:, own].mean(axis=1) for name, own in columns.items()}
    found = [
        LossGroup(
            name=name,
            members=tuple(tournament.names[c] for c in own),
            rank=_cut(interval(tournament.ranks_BC[:, own].mean(axis=1)), len(tournament.names)),
            score=interval(scores[name]),
            best_score=tournament.standings[own[0]].mean_score,
        )
        for name, own in columns.items()
    ]
    ordered = sorted(found, key=lambda group: (group.rank.estimate, group.name))
    grouped = {member for group in ordered for member in group.members}
    return LossGroups(
        groups=tuple(ordered),
        differences=tuple(
            (a.name, b.name, interval(scores[a.name] - scores[b.name]))
            for a, b in combinations(ordered, 2)
        ),
        ungrouped=tuple(name for name in tournament.names if name not in grouped),
    )


def _cut(rank: Interval, last: int) -> Interval:
    """The interval without what lies beyond the first and the last rank."""
    if rank.low is None or rank.high is None:
        return rank
    return replace(rank, low=max(1.0, rank.low), high=min(float(last), rank.high))
