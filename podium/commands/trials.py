"""``podium trials STUDY``: the trials of a study, and why some of them failed."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from podium.api.answer import print_frame
from podium.api.results import Results
from podium.arguments.study_argument import OfStudy
from podium.errors import PodiumError
from podium.terminal.printing import Form, say
from podium.terminal.trials_text import failure_lines, retried_line, trials_text

if TYPE_CHECKING:
    from orchestrator.results.storage.locations import Place


def command(
    *,
    study: OfStudy,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only failed trials, with cause, traceback and log.")
    ] = False,
    stage: Annotated[
        str | None, typer.Option(help="Only trials of a stage: search, final or baseline.")
    ] = None,
    loss: Annotated[str | None, typer.Option(help="Only trials of a loss.")] = None,
    fold: Annotated[int | None, typer.Option(help="Only trials of a fold, from 0.")] = None,
    sort: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Sort by a column: largest number first, text from A to Z, missing last.",
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Only the first N trials, by the column of --sort."),
    ] = None,
    form: Form,
) -> None:
    """List the trials of a study; --failed shows why they failed, and what was retried since.

    `objective` is the validation score that searches maximise, `test` the same score of a final
    trial on the test classes. What all trials shown share is left out of the text, and what has no
    room; JSON and CSV have every column, under the names of the trial table: every test score, and
    hyperparameters as hp.NAME. `same_as` is the trial whose results a row repeats: it was trained
    once for several searches. Of searches for less time too, `on_front` marks trials that none
    beats in score and time.

    Example: podium trials STUDY --loss triplet --stage search --sort objective --top 5
    """
    if failed and (sort is not None or top is not None):
        raise PodiumError("--sort and --top go with the list of trials, not with --failed")
    opened = Results(study.folder)
    if not failed:
        trials = opened.select_trials(loss=loss, stage=stage, fold=fold, sort=sort, top=top)
        if form.is_text:
            say(trials_text(trials))
        else:
            print_frame(trials, form)
        return
    failures = opened.failures(loss=loss, stage=stage, fold=fold)
    if not form.is_text:
        print_frame(failures, form)
        return
    for line in failure_lines(failures.to_dicts()):
        say(line)
    is_part = any(wanted is not None for wanted in (stage, loss, fold))
    every = opened.trials
    shown = opened.select_trials(loss=loss, stage=stage, fold=fold) if is_part else None
    _say_retried(
        opened.folder,
        dict(every.select("trial_id", "state").iter_rows()),
        None if shown is None else set(shown["trial_id"]),
    )


def _say_retried(
    folder: "Place", states: Mapping[str, str], shown: Collection[str] | None
) -> None:
    """A line for each earlier failure of a trial that was retried since.

    Args:
        folder: the results folder.
        states: trial id -> state, of all trials with a row.
        shown: ids of the trials to tell of; None means all, with a row or not.
    """
    from orchestrator.results.records.journal import read_retried
    from orchestrator.results.records.store_paths import StudyPaths

    for trial_id, failures in read_retried(StudyPaths(folder)).items():
        for failure in failures if shown is None or trial_id in shown else ():
            say(retried_line(trial_id, states.get(trial_id, "not finished"), failure))
