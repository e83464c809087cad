"""``podium trials STUDY``: the trials of a study, and why some of them failed."""

from typing import Annotated

import typer

from podium.arguments.study_argument import StorageFolder, StudyPath, results_folder
from podium.terminal.printing import AsCsv, AsJson, one_line, print_table, say

__all__ = ["command"]

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
    """List the trials of a study; --failed shows why they failed.

    `same_as` is the trial whose results a row repeats: it was trained once for several searches.
    Of searches for less time too, `on_front` marks trials that none beats in score and time.
    """
    import polars as pl

    from analysis.hyperparameters.pareto_fronts import has_time_objective, with_pareto_fronts
    from orchestrator.results.trial_files.reader import Reader

    reader = Reader(results_folder(study, storage))
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
    elif not rows:
        say("No trial failed.")
    for row in [] if as_json or as_csv else rows:
        say(one_line(f"{row['trial_id']}  {row['stage']} {row['search']}"))
        say(one_line(f"  cause: {row['cause']}: {row['message']}"))
        for name in ("traceback", "log"):
            if row[name]:
                say(f"  {name}:")
                say("\n".join(f"    {line}" for line in row[name].rstrip().splitlines()))
