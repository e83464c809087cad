"""Early stopping: trials of one search are compared with each other at its rungs.

The score of a trial is its validation score so far: the best epoch of each fold it has come to,
averaged over these folds. Every kind of early stopping is a set of rungs, the steps at
which trials are compared, and a rule on a score and those of the trial's rivals at the same rung.

``asha``, ``folds``
    Asynchronous successive halving (Li et al. 2020, the stopping variant): the best
    1 / reduction_factor of those at a rung continue.
``hyperband``
    Brackets of ``asha`` with other first rungs (Li et al. 2018; see `bracket_sizes`), for where
    early epochs say little: trials compete inside their bracket only.
``median``
    The median stopping rule (Golovin et al. 2017): a trial stops below the median of the others.
    These count with their best so far, like the trial itself. In the paper they count with the
    mean of their scores so far, which any rising curve exceeds, so that hardly a trial is stopped.

A config that is validated on several folds trains on them one after the other, and stopping then
saves folds. All trials of a search have the same folds in the same order and one seed, so two
trials at a rung are compared on the same validation classes, and that one fold is harder than
another does not count. No rung lies inside a later fold, where a mean would mix finished folds
with one that has just begun; the first fold is like a single split, and all kinds but ``folds``
have rungs at its epochs too.

A test over paired folds is no alternative: with one or two folds it can reject nothing, and that
is where stopping saves most.
"""

import functools
import statistics
from collections.abc import Callable, Sequence
from functools import partial

from podium.orchestrator.study.study import EarlyStopping

# Whether a trial continues, by its score and the scores of its rivals at the same rung.
StoppingRule = Callable[[float, Sequence[float]], bool]


def make_early_stopper(settings: EarlyStopping, *, epochs: int, folds: int) -> "EarlyStopper":
    """The early stopper of one search, without any scores yet.

    Args:
        settings: see `EarlyStopping`.
        epochs: number of epochs on each fold.
        folds: number of folds that each trial of the search trains on.
    """
    steps = rung_steps(settings, epochs=epochs, folds=folds)
    if settings.kind == "median":
        return EarlyStopper(steps, _above_median(settings.min_trials))
    factor = settings.reduction_factor
    if settings.kind == "hyperband":
        bracket = partial(bracket_of, num_rungs=len(steps), reduction_factor=factor)
        return EarlyStopper(steps, in_best_share(factor), bracket)
    return EarlyStopper(steps, in_best_share(factor))


def rung_steps(settings: EarlyStopping, *, epochs: int, folds: int) -> tuple[int, ...]:
    """The steps of a search's rungs, ascending; the position in the list is the rung's number.

    Successive halving has rungs after grace_epochs * reduction_factor**r epochs of the first fold,
    where it has any there, and after reduction_factor**r folds. The median needs no such spacing:
    its rungs lie at every epoch of the first fold from grace_epochs on, and after every fold.

    Args:
        settings: see `EarlyStopping`.
        epochs: number of epochs on each fold.
        folds: number of folds that each trial of the search trains on.

    Returns:
        Epochs trained, over all folds and counted from 1. None lies at a trial's last epoch, where
        there is nothing left to stop.
    """
    factor, grace = settings.reduction_factor, settings.grace_epochs
    match settings.kind:
        case "none":
            return ()
        case "median":
            return (*range(grace, epochs), *range(epochs, epochs * folds, epochs))
        case "folds":
            first_fold: tuple[int, ...] = ()
        case "asha" | "hyperband":
            first_fold = _powers(grace, factor, below=epochs)
    return first_fold + tuple(epochs * number for number in _powers(1, factor, below=folds))


def _powers(first: int, factor: int, *, below: int) -> tuple[int, ...]:
    """``first * factor**r`` for r = 0, 1, ... as long as it is smaller than ``below``."""
    powers = []
    value = first
    while value < below:
        powers.append(value)
        value *= factor
    return tuple(powers)


def in_best_share(reduction_factor: int) -> StoppingRule:
    """Among the best ceil(n / reduction_factor) of n scores, its own included; ties continue."""

    def is_kept(score: float, rivals: Sequence[float]) -> bool:
        # n / reduction_factor, rounded up.
        keep = -(-(len(rivals) + 1) // reduction_factor)
        return sum(rival > score for rival in rivals) < keep

    return is_kept


def _above_median(min_trials: int) -> StoppingRule:
    """Not below the median of its rivals, once there are ``min_trials`` (from 1) of them."""

    def is_kept(score: float, rivals: Sequence[float]) -> bool:
        return len(rivals) < min_trials or score >= statistics.median(rivals)

    return is_kept


class EarlyStopper:
    """The rungs of one search: which trial reached which rung with what score.

    It holds nothing but these scores, so that it is as it was once the scores of all trials have
    been recorded again.

    Args:
        steps: steps of the rungs, ascending, from `rung_steps`.
        rule: whether a trial continues past a rung.
        bracket: index of a suggestion -> its bracket, which is the first rung that concerns it.
            Only trials of one bracket are rivals.

    Attributes:
        steps: as given.
    """

    def __init__(
        self, steps: Sequence[int], rule: StoppingRule, bracket: Callable[[int], int] = lambda _: 0
    ) -> None:
        self.steps = frozenset(steps)
        self._numbers = {step: number for number, step in enumerate(steps)}
        self._rule = rule
        self._bracket = bracket
        self._scores: dict[tuple[int, int], dict[int, float]] = {}

    def rung_at(self, step: int) -> int | None:
        """The rung that lies at ``step``, or None."""
        return self._numbers.get(step)

    def continues(
        self,
        index: int,
        step: int,
        score: float,
        competes_with: Callable[[int], bool] = lambda _: True,
    ) -> bool:
        """Record the score of suggestion ``index`` and decide whether its trial continues.

        It continues where no rung concerns it, and if the rule says so. Suggestion 0, the
        published default, always continues: every default is compared with its tuned config.

        Args:
            index: index of the suggestion within its search.
            step: 1-based count of epochs trained, over all folds.
            score: mean over the folds so far of the best validation score.
            competes_with: whether another suggestion counts; in a deterministic search only
                those do that were decided before this one was suggested.
        """
        rung, bracket = self.rung_at(step), self._bracket(index)
        if rung is None or rung < bracket:
            return True
        scores = self._scores.setdefault((bracket, rung), {})
        scores[index] = score
        rivals = [other for key, other in scores.items() if key != index and competes_with(key)]
        return index == 0 or self._rule(score, rivals)


def bracket_sizes(num_rungs: int, reduction_factor: int) -> tuple[int, ...]:
    """How many of a full cycle of suggestions each bracket takes, the first to stop trials first.

    With s rungs to come a trial costs about (s + 1) / reduction_factor**s of a full one, so these
    sizes give all brackets the same share of the epochs.

    Args:
        num_rungs: number of rungs of the search; brackets leave out 0 to all of them.
        reduction_factor: a trial in so many continues past a rung; at least 2.

    Returns:
        The paper's n: ceil((num_rungs + 1) / (s + 1) * reduction_factor**s) for s = num_rungs,
        ..., 0.
    """
    # A quotient of whole numbers, rounded up without leaving them.
    return tuple(
        -(-(num_rungs + 1) * reduction_factor**left // (left + 1))
        for left in range(num_rungs, -1, -1)
    )


def bracket_of(index: int, *, num_rungs: int, reduction_factor: int) -> int:
    """The bracket of suggestion ``index``, which is also the first rung that concerns its trial.

    Args:
        index: index of the suggestion, from 0.
        num_rungs: number of rungs of the search.
        reduction_factor: a trial in so many continues past a rung; at least 2.

    Returns:
        A bracket from 0 to ``num_rungs``.
    """
    cycle = _cycle(num_rungs, reduction_factor)
    return cycle[index % len(cycle)]


@functools.cache
def _cycle(num_rungs: int, reduction_factor: int) -> tuple[int, ...]:
    """Brackets of a full cycle: each turn goes to the one furthest behind its share."""
    sizes = bracket_sizes(num_rungs, reduction_factor)
    length = sum(sizes)
    behind = [0] * len(sizes)
    turns = []
    for _ in range(length):
        behind = [lag + size for lag, size in zip(behind, sizes, strict=True)]
        turn = behind.index(max(behind))  # the first on ties
        behind[turn] -= length
        turns.append(turn)
    return tuple(turns)
