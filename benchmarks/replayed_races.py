"""What races would have left of a search whose trials all ran to their end."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from orchestrator.scheduling.early_stopping import EarlyStopper, make_early_stopper
from orchestrator.search_samplers.suggester import Outcome
from orchestrator.study.study import EarlyStopping, Stopping

KINDS: tuple[Stopping, ...] = ("folds", "asha", "hyperband", "median")
FULL, FIRST_FOLD, DEFAULT = "none", "first fold alone", "published default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """The config that a way of searching picks, and what that took.

    Attributes:
        index: the suggestion.
        objective: its mean validation Recall@1 over all folds.
        epochs: trained by the whole search.
    """

    index: int
    objective: float
    epochs: int


def orders(num_trials: int, num_orders: int, seed: int) -> list[list[int]]:
    """Orders of the suggestions; the published default is the first in all of them."""
    drawn = list(range(1, num_trials))
    shuffles = [random.Random(f"{seed} {number}") for number in range(num_orders - 1)]
    return [
        [0, *order]
        for order in (drawn, *(shuffle.sample(drawn, len(drawn)) for shuffle in shuffles))
    ]


def ways(epochs: int, folds: int, lag: int) -> dict[str, Callable[[Sequence[Outcome]], Selected]]:
    """All ways of searching, with no trial in their races yet."""
    races = {
        kind: make_early_stopper(EarlyStopping(kind=kind), epochs=epochs, folds=folds)
        for kind in KINDS
    }
    return {
        FULL: winner,
        FIRST_FOLD: partial(by_first_fold, epochs),
        DEFAULT: lambda outcomes: Selected(index=0, objective=score_of(outcomes[0]), epochs=0),
        **{kind: partial(replayed, race, lag) for kind, race in races.items()},
    }


def replayed(race: EarlyStopper, lag: int, outcomes: Sequence[Outcome]) -> Selected:
    """What a race leaves of trials that ran to their end, one suggestion after the other."""
    return winner([cut(outcome, index, race, lag) for index, outcome in enumerate(outcomes)])


def cut(outcome: Outcome, index: int, race: EarlyStopper, lag: int) -> Outcome:
    """The outcome up to where the race stops it."""

    def competes_with(other: int) -> bool:
        return other <= index - lag

    for place, (step, score) in enumerate(outcome.path, start=1):
        if not race.continues(index, step, score, competes_with):
            return replace(outcome, state="PRUNED", objective=None, path=outcome.path[:place])
    return outcome


def winner(outcomes: Sequence[Outcome]) -> Selected:
    """The best complete suggestion, the earliest on ties, and the epochs of all of them."""
    complete = [index for index, it in enumerate(outcomes) if it.state == "COMPLETE"]
    best = max(complete, key=lambda index: score_of(outcomes[index]))
    return Selected(
        index=best,
        objective=score_of(outcomes[best]),
        epochs=sum(len(outcome.path) for outcome in outcomes),
    )


def by_first_fold(epochs: int, outcomes: Sequence[Outcome]) -> Selected:
    """Selection by one split: that of the first fold."""
    complete = [index for index, it in enumerate(outcomes) if it.state == "COMPLETE"]
    best = max(complete, key=lambda index: outcomes[index].path[epochs - 1][1])
    objective = score_of(outcomes[best])
    return Selected(index=best, objective=objective, epochs=epochs * len(outcomes))


def score_of(outcome: Outcome) -> float:
    assert outcome.objective is not None, "only complete trials are selected"
    return outcome.objective
