"""Asynchronous successive halving (Li et al. 2020, the stopping variant), as pure decisions.

Trials are compared with trials of the same search only, by their validation score so far: the best
epoch of each fold they have come to, averaged over these folds.

A config that is judged on several folds trains on them one after the other, and folds are then
what is rationed: rungs lie after 1, factor, factor^2, ... finished folds. All trials of a search
have the same folds in the same order and one seed, so two trials at a rung are compared on the
same validation classes, and that one fold is harder than another does not count. No rung lies
inside a later fold, where a mean would mix finished folds with one that has just begun; ``asha``
has rungs at epochs of the first fold too.

A test over paired folds is no alternative: with one or two folds it can reject nothing, and that
is where stopping saves most.
"""

import math
from collections.abc import Callable

from orchestrator.study import EarlyStopping

__all__ = ["Race", "rung_steps"]


def rung_steps(rules: EarlyStopping, *, epochs: int, folds: int) -> tuple[int, ...]:
    """Where the rungs of a search lie, ascending; the place in the list is a rung's number.

    Args:
        rules: see `EarlyStopping`.
        epochs: of each fold.
        folds: that each trial of the search trains on.

    Returns:
        Epochs trained, over all folds and counted from 1. None lies at a trial's last epoch, where
        there is nothing left to stop.
    """
    factor = rules.reduction_factor
    if rules.kind == "none":
        return ()
    after_folds = tuple(epochs * number for number in _powers(1, factor, below=folds))
    if rules.kind == "folds":
        return after_folds
    return _powers(rules.grace_epochs, factor, below=epochs) + after_folds


def _powers(first: int, factor: int, *, below: int) -> tuple[int, ...]:
    """``first * factor**r`` for r = 0, 1, ... as long as it is smaller than ``below``."""
    powers = []
    value = first
    while value < below:
        powers.append(value)
        value *= factor
    return tuple(powers)


class Race:
    """The rungs of one search: which trial reached which rung with what score.

    Args:
        steps: where the rungs lie, from `rung_steps`.
        reduction_factor: of those at a rung the best 1 / reduction_factor go on.
    """

    def __init__(self, steps: tuple[int, ...], reduction_factor: int) -> None:
        self._numbers = {step: number for number, step in enumerate(steps)}
        self._reduction_factor = reduction_factor
        self._rungs: dict[int, dict[int, float]] = {}

    def rung_at(self, step: int) -> int | None:
        """The rung that lies at ``step``, or None."""
        return self._numbers.get(step)

    def goes_on(
        self,
        index: int,
        step: int,
        score: float,
        competes_with: Callable[[int], bool] = lambda _: True,
    ) -> bool:
        """Record the score of suggestion ``index`` and decide whether its trial goes on.

        It goes on where no rung lies, and if it is among the best ceil(n / reduction_factor) of
        the n scores at the rung, its own included; ties go on. Suggestion 0, the published
        default, always goes on: default against tuned must always be answered.

        Args:
            index: which suggestion of the search.
            step: 1-based count of epochs trained, over all folds.
            score: mean over the folds so far of the best validation score.
            competes_with: which other suggestions count; a deterministic search looks only at
                those that were decided before this one was suggested.
        """
        rung = self.rung_at(step)
        if rung is None:
            return True
        scores = self._rungs.setdefault(rung, {})
        scores[index] = score
        rivals = [other for key, other in scores.items() if key != index and competes_with(key)]
        if index == 0 or not rivals:
            return True
        keep = math.ceil((len(rivals) + 1) / self._reduction_factor)
        return sum(other > score for other in rivals) < keep
