"""A made-up training run whose test scores are planted: they follow from nothing it validates."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator

from podium.orchestrator.ids_and_seeds import config_hash
from podium.trainables.settings.trial_settings import TrialSettings
from podium.trainables.trial_reports import EpochReport, Score, TestReport
from tests.orchestrator.simulated import recall_hits, recall_score

_QUERIES = 1000

# Settings, fold and epoch -> a test score, 0 to 1.
Tested = Callable[[TrialSettings, int, int], float]


class PlantedTrial:
    """The shape of `trainables.trial.run_trial.run_trial`, without torch and data.

    A validation curve rises to a peak that depends on config, split and seed, and falls again. The
    test score of an epoch is whatever ``tested`` says. ``test_tuned`` validates by it, ``refit``
    validates nothing.
    """

    def __init__(self, tested: Tested, *, test_seconds: float = 0.01) -> None:
        self._tested = tested
        self._test_seconds = test_seconds

    def __call__(
        self,
        settings: TrialSettings,
        *,
        resume: bytes | None,
        save: Callable[[bytes], None],
        keep: object = None,
    ) -> Iterator[EpochReport | TestReport]:
        """Yield the reports; those that were saved before come again and are not saved."""
        done = json.loads(resume)["reports"] if resume else 0
        for number, report in enumerate(self._reports(settings), start=1):
            if number > done:
                save(json.dumps({"reports": number}).encode())
            yield report

    def _reports(self, settings: TrialSettings) -> Iterator[EpochReport | TestReport]:
        planned = int(settings.hyperparameters.get("epochs", settings.training.epochs))
        last = planned if settings.stop_epoch is None else settings.stop_epoch
        for fold in settings.folds:
            best: tuple[float, int] = (-1.0, 0)
            for epoch in range(1, last + 1) if planned else [0]:
                report = self._epoch(settings, fold, epoch)
                score = report.recall(settings.ks[0]) if report.has_validation else best[0] + 1
                best = max(best, (score, epoch), key=lambda pair: pair[0])
                yield report
            if settings.evaluate_test:
                yield self._test(settings, fold, best[1])

    def _epoch(self, settings: TrialSettings, fold: int, epoch: int) -> EpochReport:
        protocol = settings.protocol
        judge = self._tested if protocol.leaks else validated
        recall = judge(settings, fold, epoch)
        is_validated = protocol.is_validated
        return EpochReport(
            fold=fold,
            epoch=epoch,
            scores=(
                Score(role="train", metric="loss", value=1 - 0.01 * epoch),
                *(recall_score("val", k, recall, _QUERIES) for k in settings.ks if is_validated),
            ),
            class_hits=tuple(
                recall_hits("val", k, recall, _QUERIES) for k in settings.ks if is_validated
            ),
            seconds=0.01,
            peak_memory_mb=100.0,
        )

    def _test(self, settings: TrialSettings, fold: int, epoch: int) -> TestReport:
        recall = self._tested(settings, fold, epoch)
        return TestReport(
            fold=fold,
            epoch=epoch,
            scores=tuple(recall_score("test", k, recall, _QUERIES) for k in settings.ks),
            class_hits=tuple(recall_hits("test", k, recall, _QUERIES) for k in settings.ks),
            retrievals=(),
            seconds=self._test_seconds,
        )


def validated(settings: TrialSettings, fold: int, epoch: int) -> float:
    """The validation curve."""
    place = [settings.seed, settings.protocol.kind, settings.protocol.split_seed, settings.draw]
    ceiling, peak = _draw(settings, fold, *place), _draw(settings, "peak", fold, *place)
    rise = 1 - math.exp(-(epoch + 1) / 2)
    fall = max(0.0, epoch - 1 - 3 * peak) / 10
    return max(0.0, (0.4 + 0.5 * ceiling) * rise - fall)


def hashed(settings: TrialSettings, fold: int, epoch: int) -> float:
    """A test score out of the blue, other ones for every config, fold, epoch and split."""
    return _draw(settings, "test", fold, epoch, settings.protocol.kind)


def inverted(settings: TrialSettings, fold: int, epoch: int) -> float:
    """The worse on validation the better on test."""
    return 1 - validated(settings, fold, epoch)


def planted(name: str) -> Tested:
    """Perfect on test for the config of this hash, and a lower score for all others."""

    def tested(settings: TrialSettings, fold: int, epoch: int) -> float:
        is_planted = config_hash(settings.hyperparameters) == name
        return 1.0 if is_planted else 0.5 * hashed(settings, fold, epoch)

    return tested


def _draw(settings: TrialSettings, *place: object) -> float:
    """A number in [0, 1) that follows from config and place."""
    text = json.dumps([dict(settings.hyperparameters), *place], sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") / 2**32
