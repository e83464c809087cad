"""``podium trial rerun TRIAL``: train a stored trial again and compare."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import typer

from podium.arguments.trial_argument import InStudies, StoredTrial, TrialId, stored_trial
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.study.foreign_code import changed_code
from podium.terminal.printing import say
from podium.terminal.training_progress import run_and_print
from podium.trainables.settings.trial_settings import TrialSettings
from podium.trainables.trial_reports import EpochReport

_SAME, _DIFFERENT = 0, 1
_COMPARED = {"val": "validation scores", "train": "scores of training"}


def command(
    *,
    trial_id: TrialId,
    within: InStudies,
    trust_code: Annotated[
        bool,
        typer.Option(
            "--trust-code", help="Run copies of files of code that are in the results folder."
        ),
    ] = False,
) -> int:
    """Train a stored trial again, with its settings and seed, and compare the scores.

    On the machine that ran it first the numbers are the same to the last bit. Compared are
    validation scores, or those of training where nothing is validated. Nothing is stored, and the
    test classes are not touched again, unless they are what the trial was validated on. Code of
    your own is the present one; it says where that differs from the code of the stored trial.
    What was named by its file is in the results folder: --trust-code runs the copy.
    """
    trial = stored_trial(trial_id, within.folders())
    row = trial.row
    settings = replace(TrialSettings.from_dict(json.loads(row["settings"])), evaluate_test=False)
    if settings.protocol.leaks:
        say("test_tuned: the validation scores below are of test classes.")
    if trust_code:
        from podium.orchestrator.run.study_code import keep_recorded_files

        keep_recorded_files(StudyPaths(trial.folder))
    changes = changed_code(settings.code)
    for change in changes.values():
        say(f"other code than the stored trial was trained by: {change}")
    role = "val" if settings.protocol.is_validated else "train"
    stored, what = _scores(trial, role), _COMPARED[role]
    again = {
        (report.fold, report.epoch, score.metric, score.k): score.value
        for report in run_and_print(settings)
        if isinstance(report, EpochReport)
        for score in report.scores
        if score.role == role
    }
    shared = [key for key in stored if key in again]
    gap = max((abs(stored[key] - again[key]) for key in shared), default=0.0)
    if gap == 0.0:
        say(f"same: all {len(shared)} stored {what} are equal")
        return _SAME
    say(
        f"different: {what} differ by up to {gap:.6f}; first run on {row['node']} with "
        f"torch {row['torch_version']}{' and other code' if changes else ''}"
    )
    return _DIFFERENT


def _scores(trial: StoredTrial, role: str) -> Mapping[Any, float]:
    """Stored scores of one role by fold, epoch, metric and K."""
    import polars as pl

    from podium.orchestrator.results.trial_files.reader import Reader

    is_wanted = (pl.col("trial_id") == trial.trial_id) & (pl.col("role") == role)
    scores = Reader(trial.folder).scores().filter(is_wanted)
    values = scores.select("fold", "epoch", "metric", "k", "value").collect().iter_rows()
    return {tuple(key): value for *key, value in values}
