"""Runs one trial in this process and prints a line for each epoch."""

from collections.abc import Iterator

from podium.orchestrator.results.records.metric_columns import (
    DIAGNOSTICS,
    metric_word,
    short_label,
)
from podium.terminal.printing import say
from podium.trainables.settings.trial_settings import TrialSettings
from podium.trainables.trial_reports import EpochReport, Score, TestReport


def run_and_print(settings: TrialSettings) -> Iterator[EpochReport | TestReport]:
    """Yield the reports of a trial, printing each.

    Raises:
        TrialInputError: the settings are unusable.
        Diverged, Collapsed: the training failed.
    """
    from podium.trainables.trial.run_trial import run_trial

    for report in run_trial(settings):
        say(_line(report))
        yield report


def _line(report: EpochReport | TestReport) -> str:
    kind = "test " if isinstance(report, TestReport) else "epoch"
    scores = "  ".join(_text(score) for score in report.scores if score.metric not in DIAGNOSTICS)
    loss = "".join(f"  loss {s.value:.4f}" for s in report.scores if s.metric == "loss")
    return f"fold {report.fold}  {kind} {report.epoch:>3}{loss}  {scores}  {report.seconds:.2f} s"


def _text(score: Score) -> str:
    if score.k is None:
        return f"{metric_word(score.metric)} {score.value:.4f}"
    return f"{score.role} {short_label(score.metric, score.k)} {score.value:.4f}"
