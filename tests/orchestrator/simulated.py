"""A made-up training run for tests of everything around it: the same shape, no torch, no data."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator

from podium.trainables.settings.trial_settings import TrialSettings
from podium.trainables.trial_reports import ClassHits, EpochReport, Score, TestReport

_QUERIES = 200


def simulated_trial(
    settings: TrialSettings,
    *,
    resume: bytes | None,
    save: Callable[[bytes], None],
    keep: object = None,
) -> Iterator[EpochReport | TestReport]:
    """A learning curve that rises towards a ceiling set by the hyperparameters and the fold."""
    done = json.loads(resume)["reports"] if resume else 0
    num_reports = 0
    validated = settings.ks if settings.protocol.is_validated else ()
    for fold in settings.folds:
        ceiling = _ceiling(settings, fold)
        first = 0 if settings.training.epochs == 0 else 1
        for epoch in range(first, settings.planned_epochs + 1):
            recall = ceiling * (1 - math.exp(-(epoch + 1) / 3))
            num_reports += 1
            if num_reports > done:
                save(json.dumps({"reports": num_reports}).encode())
            yield EpochReport(
                fold=fold,
                epoch=epoch,
                scores=(
                    Score(role="train", metric="loss", value=1 - recall),
                    *(recall_score("val", k, recall) for k in validated),
                ),
                class_hits=tuple(recall_hits("val", k, recall) for k in validated),
                seconds=0.01,
                peak_memory_mb=100.0,
            )
        if settings.evaluate_test:
            yield TestReport(
                fold=fold,
                epoch=settings.planned_epochs,
                scores=tuple(recall_score("test", k, ceiling * 0.9) for k in settings.ks),
                class_hits=tuple(recall_hits("test", k, ceiling * 0.9) for k in settings.ks),
                retrievals=(),
                seconds=0.01,
            )


def _ceiling(settings: TrialSettings, fold: int) -> float:
    """Of the first fold it is that of a trial without folds."""
    seed = [settings.seed, fold] if fold else [settings.seed]
    text = json.dumps([dict(settings.hyperparameters), *seed], sort_keys=True)
    return 0.5 + 0.4 * hashlib.sha256(text.encode()).digest()[0] / 255


def recall_score(role: str, k: int, value: float, queries: int = _QUERIES) -> Score:
    """The recall of so many queries; it grows with K."""
    hits = round(min(1.0, value + 0.02 * (k - 1)) * queries)
    return Score(
        role=role,
        metric="recall",
        k=k,
        value=hits / queries,
        hits=hits,
        queries=queries,
        gallery=queries,
    )


def recall_hits(role: str, k: int, value: float, queries: int = _QUERIES) -> ClassHits:
    """The hits of that recall, all in one class."""
    hits = recall_score(role, k, value, queries).hits
    return ClassHits(role=role, k=k, class_ids=(0,), queries=(queries,), hits=(hits,))
