"""Early stopping: trials of one search are compared with each other at its rungs.

The score of a trial is its validation score so far: the best epoch of each fold it has come to,
averaged over these folds. Rungs are the steps at which trials are compared: of those at a rung the
best 1 / reduction_factor continue, as in asynchronous successive halving (Li et al. 2020, the
stopping variant).

A config that is validated on several folds trains on them one after the other, and stopping then
saves folds. All trials of a search have the same folds in the same order and one seed, so two
trials at a rung are compared on the same validation classes, and that one fold is harder than
another does not count. No rung lies inside a later fold, where a mean would mix finished folds
with one that has just begun; the first fold is like a single split, and ``asha`` has rungs at its
epochs too.

A test over paired folds is no alternative: with one or two folds it can reject nothing, and that
is where stopping saves most.
"""

import math

from podium.orchestrator.study.study import EarlyStopping


def rung_steps(settings: EarlyStopping, *, epochs: int, folds: int) -> tuple[int, ...]:
    """The steps of a search's rungs, ascending; the position in the list is the rung's number.

    Successive halving has rungs after grace_epochs * reduction_factor**r epochs of the first fold,
    where it has any there, and after reduction_factor**r folds.

    Returns:
        Epochs trained, over all folds and counted from 1. None lies at a trial's last epoch, where
        there is nothing left to stop.
    """
    if settings.kind == "none":
        return ()
    factor = settings.reduction_factor
    is_raced = settings.kind == "asha"
    first_fold = _powers(settings.grace_epochs, factor, below=epochs) if is_raced else ()
    return first_fold + tuple(epochs * number for number in _powers(1, factor, below=folds))


def _powers(first: int, factor: int, *, below: int) -> tuple[int, ...]:
    """``first * factor**r`` for r = 0, 1, ... as long as it is smaller than ``below``."""
    powers = []
    value = first
    while value < below:
        powers.append(value)
        value *= factor
    return tuple(powers)


class EarlyStopper:
    """The rungs of one search: which trial reached which rung with what score.

    It holds nothing but these scores, so that it is as it was once the scores of all trials have
    been recorded again.

    Args:
        settings: the best 1 / reduction_factor at a rung continue, rounded up; ties do.

    Attributes:
        steps: steps of the rungs, from `rung_steps`.
    """

    def __init__(self, settings: EarlyStopping, *, epochs: int, folds: int) -> None:
        steps = rung_steps(settings, epochs=epochs, folds=folds)
        self.steps = frozenset(steps)
        self._numbers = {step: number for number, step in enumerate(steps)}
        self._factor = settings.reduction_factor
        self._scores: dict[int, dict[int, float]] = {}

    def rung_at(self, step: int) -> int | None:
        """The rung that lies at ``step``, or None."""
        return self._numbers.get(step)

    def continues(self, index: int, step: int, score: float, last_rival: float = math.inf) -> bool:
        """Record the score of suggestion ``index`` and decide whether its trial continues.

        It continues where there is no rung, and among the best. Suggestion 0, the
        published default, always continues: every default is compared with its tuned config.

        Args:
            index: index of the suggestion within its search.
            step: 1-based count of epochs trained, over all folds.
            score: mean over the folds so far of the best validation score.
            last_rival: last suggestion that counts; in a deterministic search only those do that
                were decided before this one was suggested.
        """
        rung = self.rung_at(step)
        if rung is None:
            return True
        scores = self._scores.setdefault(rung, {})
        scores[index] = score
        rivals = [it for key, it in scores.items() if key != index and key <= last_rival]
        num_kept = -(-(len(rivals) + 1) // self._factor)
        return index == 0 or sum(rival > score for rival in rivals) < num_kept
