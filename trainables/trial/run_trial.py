"""Runs one trial: the only entry point for schedulers of trials."""

import logging
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter

from podium.trainables.device import reset_peak_memory, trial_device
from podium.trainables.errors import Collapsed, Diverged
from podium.trainables.settings.trial_settings import TrialSettings
from podium.trainables.trial.checkpoint import decode, encode
from podium.trainables.trial.fold_artifacts import FoldArtifacts
from podium.trainables.trial.fold_run import FoldRun, epochs_of
from podium.trainables.trial.setup import set_up
from podium.trainables.trial_reports import EpochReport, TestReport

_LOG = logging.getLogger(__name__)


def run_trial(
    settings: TrialSettings,
    *,
    resume: bytes | None = None,
    save: Callable[[bytes], None] | None = None,
    is_save_due: Callable[[], bool] = lambda: True,
    keep: Callable[[FoldArtifacts], None] | None = None,
) -> Iterator[EpochReport | TestReport]:
    """Train, validate after each epoch, and test once per fold if asked to.

    Folds come one after the other, each from scratch. The selected epoch of a fold is the one with
    the best validation Recall@K for the first of ``settings.ks``, the earliest on ties; of a
    continuous task it is nDCG@K. Under the protocol ``test_tuned`` the images of validation are
    those of the test, read after each epoch. Under ``refit`` nothing is validated, and the last
    epoch is the selected one. With ``settings.stop_epoch`` the epochs after it are not trained.

    The same settings give the same numbers, bit for bit, on one machine, device and number of
    threads; so does a trial that is interrupted after any report and resumed.

    Between reports nothing is held but the trial's own tensors: torch's settings and random
    numbers are as the caller left them.

    Args:
        settings: the trial. The losses ``untrained`` and ``features`` with 0 epochs are baselines:
            epoch 0 is validated (not under ``refit``) and tested as it is.
        resume: the last checkpoint given to ``save``; its reports are yielded first, again.
        save: called with the trial's state before a report is yielded.
        is_save_due: asked before each report whether to save; by default always.
        keep: called after the test of each fold, before ``save``, with what is worth keeping. So
            a trial that was resumed has kept what the reports it yields again speak of.

    Yields:
        An `EpochReport` for each epoch, then a `TestReport` with ``settings.evaluate_test``.

    Raises:
        TrialInputError: settings or data are unusable, or a class or an image that is handed to
            one of training, validation and test was handed to another
            (`trainables.batches.leakage_guard`).
        CheckpointError: ``resume`` is damaged or of another trial.
        Diverged: a loss, gradient or embedding is not finite.
        Collapsed: all embeddings coincide. Where ``settings.test_scores`` are not ``all``,
            embeddings of test classes raise neither: the test has no scores then.
    """
    setup = set_up(settings)
    device = trial_device()
    reset_peak_memory(device)
    identity = setup.identity
    past, state = decode(resume, identity) if resume is not None else ((), None)
    reports = list(past)
    yield from past

    num_steps = len(epochs_of(setup)) + settings.evaluate_test
    for fold in settings.folds:
        num_done = sum(report.fold == fold for report in reports)
        if num_done == num_steps:
            continue
        run = FoldRun(setup, fold, device, state)
        state = None
        steps: list[Callable[[], EpochReport | TestReport]] = [
            partial(run.run_epoch, epoch) for epoch in epochs_of(setup)
        ]
        if settings.evaluate_test:
            is_free = settings.test_scores == "all"
            steps.append(partial(run.test if is_free else partial(_test_in_quarantine, run), keep))
        for number, step in enumerate(steps[num_done:], start=num_done + 1):
            report = step()
            reports.append(report)
            if save is not None and is_save_due():
                save(encode(identity, reports, run.state_dict() if number < num_steps else None))
            yield report


def _test_in_quarantine(run: FoldRun, keep: Callable[[FoldArtifacts], None] | None) -> TestReport:
    """The test of a search trial: it continues whatever the test classes do."""
    started = perf_counter()
    try:
        return run.test(keep)
    except (Collapsed, Diverged) as error:
        _LOG.warning("no test scores: %s", error)
        return TestReport(
            fold=error.fold,
            epoch=error.epoch,
            scores=(),
            class_hits=(),
            retrievals=(),
            seconds=perf_counter() - started,
        )
