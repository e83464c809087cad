"""A made-up training run for tests of everything around it: the same shape, no torch, no data."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator

from trainables.settings.trial_settings import TrialSettings
from trainables.trial_reports import ClassHits, EpochReport, Score, TestReport

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
    for fold in settings.folds:
        ceiling = _ceiling(settings, fold)
        first = 0 if settings.training.epochs == 0 else 1
        for epoch in range(first, settings.training.epochs + 1):
            recall = ceiling * (1 - math.exp(-(epoch + 1) / 3))
            num_reports += 1
            if num_reports > done:
                save(json.dumps({"reports": num_reports}).encode())
            yield EpochReport(
                fold=fold,
                epoch=epoch,
                scores=(
                    Score(role="train", metric="loss", value=1 - recall),
                    *(_recall("val", k, recall) for k in settings.ks),
                ),
                class_hits=tuple(_class_hits("val", k, recall) for k in settings.ks),
                seconds=0.01,
                peak_memory_mb=100.0,
            )
        if settings.evaluate_test:
            yield TestReport(
                fold=fold,
                epoch=settings.training.epochs,
                scores=tuple(_recall("test", k, ceiling * 0.9) for k in settings.ks),
                class_hits=tuple(_class_hits("test", k, ceiling * 0.9) for k in settings.ks),
                retrievals=(),
                seconds=0.01,
            )


def _ceiling(settings: TrialSettings, fold: int) -> float:
    """Of the first fold it is that of a trial without folds."""
    seed = [settings.seed, fold] if fold else [settings.seed]
    text = json.dumps([dict(settings.hyperparameters), *seed], sort_keys=True)
    return 0.5 + 0.4 * hashlib.sha256(text.encode()).digest()[0] / 255


def _recall(role: str, k: int, value: float) -> Score:
    hits = round(min(1.0, value + 0.02 * (k - 1)) * _QUERIES)
    return Score(
        role=role,
        metric="recall",
        k=k,
        value=hits / _QUERIES,
        hits=hits,
        queries=_QUERIES,
        gallery=_QUERIES,
    )


def _class_hits(role: str, k: int, value: float) -> ClassHits:
    hits = round(min(1.0, value + 0.02 * (k - 1)) * _QUERIES)
    return ClassHits(role=role, k=k, class_ids=(0,), queries=(_QUERIES,), hits=(hits,))
