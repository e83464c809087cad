"""``podium trials STUDY``: the trials of a study, and why some of them failed."""

from typing import Annotated

import typer

from podium.api.answer import print_frame
from podium.api.results import Results
from podium.arguments.study_argument import OfStudy
from podium.errors import PodiumError
from podium.terminal.printing import Form, say
from podium.terminal.trials_text import failure_lines, retried_line, trials_text


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
    trial on the test classes, both in percent in the text. `winner` marks the config that a search
    selected, in the search and in its finals. What all trials shown share is left out of the text,
    and what has no room; JSON and CSV have all columns of the list: every test score,
    hyperparameters as hp.NAME. `same_as` is the trial whose results a row repeats. All columns of
    a trial are in its Parquet row, and in Python's `results.trials`.

    Example: podium trials STUDY --loss triplet --stage search --sort objective --top 5
    """
    from podium.orchestrator.results.records.journal import read_journals, retried_failures
    from podium.orchestrator.results.records.store_paths import StudyPaths

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
    shown = opened.select_trials(loss=loss, stage=stage, fold=fold) if is_part else opened.trials
    states = dict(opened.trials.select("trial_id", "state").iter_rows())
    journals = read_journals(StudyPaths(opened.folder))
    for trial_id, earlier in retried_failures(journals).items():
        if not is_part or trial_id in shown["trial_id"]:
            for failure in earlier:
                say(retried_line(trial_id, states.get(trial_id, "not finished"), failure))
