"""``podium trials STUDY``: the trials of a study, and why some of them failed."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.results.storage.printable_text import one_line
from podium.arguments.study_argument import StorageFolder, StudyPath, results_folder
from podium.errors import PodiumError
from podium.terminal.printing import AsCsv, AsJson, print_table, say

if TYPE_CHECKING:
    import polars as pl

    from orchestrator.results.storage.locations import Place
    from orchestrator.results.trial_files.reader import Reader

# Left out of a terminal, which has no room for them, where all rows have the same.
_WHICH = ("stage", "block", "loss", "protocol", "repeat", "train_on", "fold", "same_as")
_OUTCOME = ("state", "epochs_run", "objective")
_FAILURE_COLUMNS = ("trial_id", "search", "stage", "cause", "message", "traceback", "log")


def command(
    study: StudyPath,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only failed trials, with cause, traceback and log.")
    ] = False,
    stage: Annotated[
        str | None, typer.Option(help="Only trials of a stage: search, final or baseline.")
    ] = None,
    loss: Annotated[str | None, typer.Option(help="Only trials of a loss.")] = None,
    fold: Annotated[int | None, typer.Option(help="Only trials of a fold, from 0.")] = None,
    storage: StorageFolder = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List the trials of a study; --failed shows why they failed, and what was retried since.

    `test` is the test score of a final trial: what searches are maximised by, on the test classes.
    JSON and CSV have every test score, named as in the trial table. `same_as` is the trial whose
    results a row repeats: it was trained once for several searches. Of searches for less time too,
    `on_front` marks trials that none beats in score and time.
    """
    from orchestrator.results.trial_files.reader import Reader

    folder = results_folder(study, storage)
    reader = Reader(folder)
    every = reader.trials()
    trials = _filtered(every, stage=stage, loss=loss, fold=fold)
    if failed:
        _print_failures(trials, as_json=as_json, as_csv=as_csv)
        if not (as_json or as_csv):
            states = dict(every.select("trial_id", "state").collect().iter_rows())
            is_part = any(wanted is not None for wanted in (stage, loss, fold))
            ids = set(trials.select("trial_id").collect()["trial_id"]) if is_part else None
            _say_retried(folder, states, ids)
    elif as_json or as_csv:
        rows, columns = _listed(reader, trials)
        print_table(rows, columns=columns, as_json=as_json, as_csv=as_csv)
    else:
        _print_text(*_listed(reader, trials))


def _filtered(trials: "pl.LazyFrame", **wanted: str | int | None) -> "pl.LazyFrame":
    """The trials with these values; None means all.

    Raises:
        PodiumError: no trial has such a value; those that there are are named.
    """
    import polars as pl

    asked = {name: value for name, value in wanted.items() if value is not None}
    known = trials.select(*asked).unique().collect() if asked else pl.DataFrame()
    for name, value in asked.items():
        values = known[name].drop_nulls().unique().sort()
        if value not in values:
            choices = ", ".join(map(str, values)) or "those of trials, and there are none yet"
            raise PodiumError(f"--{name} must be one of {choices}; got {value}")
    return trials.filter(*(pl.col(name) == value for name, value in asked.items()))


def _listed(reader: "Reader", trials: "pl.LazyFrame") -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of a table with every column, and its columns."""
    import polars as pl

    from analysis.hyperparameters.pareto_fronts import has_time_objective, with_pareto_fronts
    from orchestrator.results.records.metric_columns import known_test_columns

    tests = known_test_columns(trials.collect_schema().names())
    columns = ["trial_id", *_WHICH, *_OUTCOME, *tests, "seconds"]
    found = trials.select(*columns, "search", "test_seconds").collect()
    if has_time_objective(reader.study()):
        # A front is of the whole search, whatever is shown of it.
        whole = reader.trials().select(found.columns).collect()
        ids = found["trial_id"].implode()
        found = with_pareto_fronts(whole).filter(pl.col("trial_id").is_in(ids))
        columns.append("on_front")
    return found.select(columns).to_dicts(), columns


def _print_text(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """The table with the first test score alone, as ``test``, which is that of the objective."""
    from orchestrator.results.records.metric_columns import known_test_columns

    first, *others = known_test_columns(columns)
    dull = {
        name for name in _WHICH if len({row[name] for row in rows if row[name] is not None}) < 2
    }
    if any(row["same_as"] is not None for row in rows):
        dull.discard("same_as")
    names = [name for name in columns if name not in dull and name not in others]
    shown = ["test" if name == first else name for name in names]
    print_table([{**row, "test": row[first]} for row in rows], columns=shown)


def _print_failures(trials: "pl.LazyFrame", *, as_json: bool, as_csv: bool) -> None:
    import polars as pl

    rows = trials.filter(pl.col("state") == "FAILED").select(_FAILURE_COLUMNS).collect().to_dicts()
    if as_json or as_csv:
        print_table(rows, columns=_FAILURE_COLUMNS, as_json=as_json, as_csv=as_csv)
    else:
        _say_failures(rows)


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


def _say_retried(
    folder: "Place", states: Mapping[str, str], shown: Collection[str] | None
) -> None:
    """A line for each earlier failure of a trial that was retried since.

    Args:
        folder: the results folder.
        states: trial id -> state, of all trials with a row.
        shown: ids of the trials to tell of; None means all, with a row or not.
    """
    from orchestrator.results.records.retried import read_retried
    from orchestrator.results.records.store_paths import StudyPaths

    for trial_id, failures in read_retried(StudyPaths(folder)).items():
        for failure in failures if shown is None or trial_id in shown else ():
            state = states.get(trial_id, "not finished")
            what = f"{failure.stage} {failure.search}: {failure.cause}: {failure.message}"
            say(one_line(f"{trial_id}  retried, now {state}; failed before, {what}"))
