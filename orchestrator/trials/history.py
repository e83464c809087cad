"""What a running trial has reported so far: objective, selected epochs, cost."""

from collections.abc import Collection, Iterable
from math import floor

from podium.trainables.trial_reports import EpochReport, TestReport


def selected_epochs(scores: Iterable[tuple[int, int, float]]) -> dict[int, int]:
    """Best epoch of each fold, the earliest on ties, from (fold, epoch, score) triples."""
    best: dict[int, tuple[float, int]] = {}
    for fold, epoch, score in sorted(scores):
        if fold not in best or score > best[fold][0]:
            best[fold] = score, epoch
    return {fold: epoch for fold, (_, epoch) in best.items()}


def mean_epoch(epochs: Collection[int]) -> int | None:
    """The mean as a whole epoch, halves rounded up; None without any epochs."""
    return floor(sum(epochs) / len(epochs) + 0.5) if epochs else None


def running_best(scores: Iterable[tuple[int, int, float]]) -> tuple[tuple[int, float], ...]:
    """(step, mean over folds of the best score so far), from (fold, epoch, score) triples."""
    path: list[tuple[int, float]] = []
    best: dict[int, float] = {}
    for step, (fold, _, score) in enumerate(sorted(scores), start=1):
        best[fold] = max(best.get(fold, score), score)
        path.append((step, sum(best.values()) / len(best)))
    return tuple(path)


class TrialHistory:
    """The reports of one trial; a report that comes twice (after a resume) changes nothing.

    The objective is the name of the validation metric to maximise, at the primary K.
    """

    def __init__(self, primary_k: int, objective: str = "recall") -> None:
        self._primary_k = primary_k
        self._objective = objective
        self._epochs: dict[tuple[int, int], EpochReport] = {}
        self._tests: dict[int, TestReport] = {}
        self._selected: tuple[EpochReport, ...] | None = None  # until another report comes

    def add(self, report: EpochReport | TestReport) -> None:
        """Add a report; one of the same fold and epoch is replaced."""
        self._selected = None
        if isinstance(report, TestReport):
            self._tests[report.fold] = report
        else:
            self._epochs[report.fold, report.epoch] = report

    @property
    def is_empty(self) -> bool:
        """Whether nothing was reported yet."""
        return not self._epochs and not self._tests

    @property
    def num_reports(self) -> int:
        """Number of epochs and tests reported."""
        return len(self._epochs) + len(self._tests)

    @property
    def longest_seconds(self) -> float:
        """Seconds of its longest epoch or test; 0 before the first."""
        epochs = [report.seconds for report in self._epochs.values()]
        return max([*epochs, *(report.seconds for report in self._tests.values())], default=0.0)

    @property
    def peak_memory_mb(self) -> float | None:
        """Largest memory reported by an epoch in MB; None before any epoch."""
        return max((report.peak_memory_mb for report in self._epochs.values()), default=None)

    @property
    def epochs(self) -> tuple[EpochReport, ...]:
        """All epoch reports, by fold and epoch."""
        return tuple(self._epochs[key] for key in sorted(self._epochs))

    @property
    def tests(self) -> tuple[TestReport, ...]:
        """All test reports, by fold."""
        return tuple(self._tests[fold] for fold in sorted(self._tests))

    @property
    def seconds(self) -> float:
        """Seconds of training, validation and testing."""
        return sum(report.seconds for report in self.epochs) + self.test_seconds

    @property
    def test_seconds(self) -> float:
        """Seconds of testing alone."""
        return sum(report.seconds for report in self.tests)

    def selected(self) -> tuple[EpochReport, ...]:
        """The selected epoch of each fold: the best at the primary K, the earliest on ties.

        The last one where nothing is validated.
        """
        if self._selected is None:
            last = {report.fold: report.epoch for report in self.epochs}
            chosen = last | selected_epochs(self._validated())
            self._selected = tuple(self._epochs[key] for key in sorted(chosen.items()))
        return self._selected

    def objective(self) -> float | None:
        """What the search maximises, the mean over folds; None before any validation."""
        return self.mean_score(self._objective, self._primary_k)

    def mean_score(self, metric: str, k: int) -> float | None:
        """Mean over folds of a validation metric at the selected epoch; None without any."""
        validated = [report for report in self.selected() if report.has_validation]
        scores = [report.validation(metric, k) for report in validated]
        return sum(scores) / len(scores) if scores else None

    def mean_test_score(self, metric: str, k: int | None) -> float | None:
        """Mean over the folds that have this test score; None without any."""
        scores = [
            score.value
            for report in self.tests
            for score in report.scores
            if score.metric == metric and score.k == k
        ]
        return sum(scores) / len(scores) if scores else None

    def running_objectives(self) -> tuple[tuple[int, float], ...]:
        """(step, best score so far) after each epoch, steps counted from 1 over all folds."""
        return running_best(self._validated())

    @property
    def selected_epoch(self) -> int | None:
        """The selected epoch as one number, the rounded mean over folds; None before any."""
        return mean_epoch([report.epoch for report in self.selected()])

    def _validated(self) -> list[tuple[int, int, float]]:
        """(fold, epoch, score) of each epoch that was validated."""
        return [
            (report.fold, report.epoch, report.validation(self._objective, self._primary_k))
            for report in self.epochs
            if report.has_validation
        ]
