"""How many epochs the trials of a search can be expected to train, before it is known.

An early stopper stops few of the first trials, which have no rivals yet, and most of the later
ones. What it does with scores in random order is played through, once for each kind of search.
"""

import random
from functools import cache

from orchestrator.scheduling.early_stopping import EarlyStopper, make_early_stopper, rung_steps
from orchestrator.study.study import EarlyStopping

_REPEATS = 8
_MAX_TRIALS = 40  # later ones are like the last ones here


@cache
def epochs_by_index(
    settings: EarlyStopping, *, epochs: int, folds: int
) -> tuple[tuple[int, ...], ...]:
    """Epochs over all folds that the i-th trial of a search trains, in each of some searches.

    Args:
        settings: early stopping of the study.
        epochs: number of epochs on each fold.
        folds: number of folds of each trial.
    """
    steps = rung_steps(settings, epochs=epochs, folds=folds)
    if not steps:
        return ((epochs * folds,),)
    scores, rows = random.Random(0), [[0] * _REPEATS for _ in range(_MAX_TRIALS)]
    for repeat in range(_REPEATS):
        stopper = make_early_stopper(settings, epochs=epochs, folds=folds)
        for index, row in enumerate(rows):
            row[repeat] = _stopped_at(stopper, steps, index, scores.random()) or epochs * folds
    return tuple(map(tuple, rows))


def _stopped_at(
    stopper: EarlyStopper, steps: tuple[int, ...], index: int, score: float
) -> int | None:
    return next((step for step in steps if not stopper.continues(index, step, score)), None)


class ExpectedEpochs:
    """Expected epochs of the trials of one kind of search.

    Args:
        by_index: from `epochs_by_index`.
    """

    def __init__(self, by_index: tuple[tuple[int, ...], ...]) -> None:
        self._rows = by_index
        self._means = [sum(row) / len(row) for row in by_index]
        late = self._means[len(self._means) // 2 :]
        self._late = sum(late) / len(late)
        self.whole = max(max(row) for row in by_index)

    def of(self, index: int) -> float:
        """Epochs of the i-th trial."""
        return self._means[index] if index < len(self._means) else self._late

    def of_rest(self, first: int, end: int) -> float:
        """Epochs of all trials from index ``first`` up to ``end``, which is left out."""
        known = self._means[first:end]
        return sum(known) + self._late * max(0, end - max(first, len(self._means)))

    def left(self, index: int, trained: int) -> float:
        """Epochs to come of the i-th trial, which has trained so many and was not stopped."""
        row = self._rows[min(index, len(self._rows) - 1)]
        longer = [epochs for epochs in row if epochs > trained]
        end = sum(longer) / len(longer) if longer else max(self.whole, trained)
        return end - trained
