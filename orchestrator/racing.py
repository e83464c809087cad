"""Asynchronous successive halving (Li et al. 2020, the stopping variant), as pure decisions.

Trials are compared with trials of the same search only, by their best validation score so far.
"""

import math
from collections.abc import Callable

from orchestrator.study import EarlyStopping

__all__ = ["Race", "rung_of"]


def rung_of(rules: EarlyStopping, epoch: int) -> int | None:
    """The rung that lies at ``epoch``, or None; see `EarlyStopping` for where rungs lie."""
    if rules.kind == "none":
        return None
    rung_epoch, rung = rules.grace_epochs, 0
    while rung_epoch < epoch:
        rung_epoch *= rules.reduction_factor
        rung += 1
    return rung if rung_epoch == epoch else None


class Race:
    """The rungs of one search: which trial reached which rung with what score."""

    def __init__(self, rules: EarlyStopping) -> None:
        self._rules = rules
        self._rungs: dict[int, dict[int, float]] = {}

    def goes_on(
        self,
        index: int,
        epoch: int,
        best_so_far: float,
        competes_with: Callable[[int], bool] = lambda _: True,
    ) -> bool:
        """Record the score of suggestion ``index`` and decide whether its trial goes on.

        It goes on where no rung lies, and if it is among the best ceil(n / reduction_factor) of
        the n scores at the rung, its own included; ties go on. Suggestion 0, the published
        default, always goes on: default against tuned must always be answered.

        Args:
            index: which suggestion of the search.
            epoch: 1-based count of epochs trained, over all folds.
            best_so_far: best validation score up to this epoch.
            competes_with: which other suggestions count; a deterministic search looks only at
                those that were decided before this one was suggested.
        """
        rung = rung_of(self._rules, epoch)
        if rung is None:
            return True
        scores = self._rungs.setdefault(rung, {})
        scores[index] = best_so_far
        rivals = [
            score for other, score in scores.items() if other != index and competes_with(other)
        ]
        if index == 0 or not rivals:
            return True
        keep = math.ceil((len(rivals) + 1) / self._rules.reduction_factor)
        return sum(score > best_so_far for score in rivals) < keep
