"""``podium trials STUDY``: the trials of a study, and why some of them failed."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.results.storage.printable_text import one_line
from podium.arguments.study_argument import StorageFolder, StudyPath, results_folder
from podium.terminal.printing import AsCsv, AsJson, print_table, say

if TYPE_CHECKING:
    from orchestrator.results.storage.locations import Place

_WHICH = ("trial_id", "stage", "block", "loss")
_CROSSED = ("protocol", "repeat", "train_on", "same_as")
_OUTCOME = ("state", "epochs_run", "objective", "seconds")
_COLUMNS = (*_WHICH, *_CROSSED, *_OUTCOME)
_FAILURE_COLUMNS = ("trial_id", "search", "stage", "cause", "message", "traceback", "log")


def command(
    study: StudyPath,
    storage: StorageFolder = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only failed trials, with cause, traceback and log.")
    ] = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List the trials of a study; --failed shows why they failed, and what was retried since.

    `same_as` is the trial whose results a row repeats: it was trained once for several searches.
    Of searches for less time too, `on_front` marks trials that none beats in score and time.
    """
    import polars as pl

    from analysis.hyperparameters.pareto_fronts import has_time_objective, with_pareto_fronts
    from orchestrator.results.trial_files.reader import Reader

    folder = results_folder(study, storage)
    reader = Reader(folder)
    trials = reader.trials()
    if not failed:
        found = trials.select(*_COLUMNS, "search", "test_seconds").collect()
        shown: tuple[str, ...] = _COLUMNS
        if has_time_objective(reader.study()):
            found, shown = with_pareto_fronts(found), (*_COLUMNS, "on_front")
        # A terminal has no room for columns with the same value everywhere.
        is_text = not (as_json or as_csv)
        dull = {name for name in _CROSSED if is_text and found[name].drop_nulls().n_unique() < 2}
        if found["same_as"].null_count() < len(found):
            dull -= {"same_as"}
        columns = [name for name in shown if name not in dull]
        print_table(
            found.select(columns).to_dicts(), columns=columns, as_json=as_json, as_csv=as_csv
        )
        return
    rows = trials.filter(pl.col("state") == "FAILED").select(_FAILURE_COLUMNS).collect().to_dicts()
    if as_json or as_csv:
        print_table(rows, columns=_FAILURE_COLUMNS, as_json=as_json, as_csv=as_csv)
    else:
        _say_failures(rows)
        _say_retried(folder, dict(trials.select("trial_id", "state").collect().iter_rows()))


def _say_failures(rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        say("No trial failed.")
    for row in rows:
        say(one_line(f"{row['trial_id']}  {row['stage']} {row['search']}"))
        say(one_line(f"  cause: {row['cause']}: {row['message']}"))
        for name in ("traceback", "log"):
            if row[name]:
                say(f"  {name}:")
                say("\n".join(f"    {line}" for line in row[name].rstrip().splitlines()))
    if rows:
        say("Once a cause is fixed, podium run STUDY --retry-failed [CAUSE]... retries them.")


def _say_retried(folder: "Place", states: Mapping[str, str]) -> None:
    """A line for each earlier failure of a trial that was retried since.

    Args:
        folder: the results folder.
        states: trial id -> state, of all trials with a row.
    """
    from orchestrator.results.records.retried import read_retried
    from orchestrator.results.records.store_paths import StudyPaths

    for trial_id, failures in read_retried(StudyPaths(folder)).items():
        for failure in failures:
            state = states.get(trial_id, "not finished")
            what = f"{failure.stage} {failure.search}: {failure.cause}: {failure.message}"
            say(one_line(f"{trial_id}  retried, now {state}; failed before, {what}"))
