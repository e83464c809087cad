"""``podium trials STUDY``: the trials of a study, and why some of them failed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.results.storage.printable_text import one_line
from podium.arguments.study_argument import StorageFolder, StudyPath, results_folder
from podium.errors import PodiumError
from podium.terminal.fitting_table import fitted_text
from podium.terminal.printing import AsCsv, AsJson, print_table, say

if TYPE_CHECKING:
    import polars as pl

    from orchestrator.results.storage.locations import Place
    from orchestrator.results.trial_files.reader import Reader

_WHICH = ("stage", "block", "loss", "protocol", "repeat", "train_on", "fold", "same_as")
_OUTCOME = ("state", "epochs_run", "objective")
_HP = "hp."
# In the order of the text, which has hyperparameters before the results.
_NAMES = ("trial_id", *(name for name in _WHICH if name not in ("repeat", "fold")), "state")
_NUMBERS = ("repeat", "fold", "on_front")
_RESULTS = ("epochs_run", "seconds", "objective")
# What the text shows first where there is no room for all of it; then hyperparameters.
_WORTH_MOST = (
    *("trial_id", "loss", "test", "objective", "fold", "stage", "block", "protocol", "repeat"),
    "train_on",
)
_FAILURE_COLUMNS = ("trial_id", "search", "stage", "cause", "message", "traceback", "log")
_LOG_FILE = "log_file"


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
    storage: StorageFolder = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
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
    from orchestrator.results.trial_files.reader import Reader

    _check(failed=failed, sort=sort, top=top)
    folder = results_folder(study, storage)
    reader = Reader(folder)
    every = reader.trials()
    trials = _filtered(every, stage=stage, loss=loss, fold=fold)
    if failed:
        _print_failures(folder, trials, as_json=as_json, as_csv=as_csv)
        if not (as_json or as_csv):
            states = dict(every.select("trial_id", "state").collect().iter_rows())
            is_part = any(wanted is not None for wanted in (stage, loss, fold))
            ids = set(trials.select("trial_id").collect()["trial_id"]) if is_part else None
            _say_retried(folder, states, ids)
        return
    found = _first(_listed(reader, trials), sort, top)
    if as_json or as_csv:
        print_table(found.to_dicts(), columns=found.columns, as_json=as_json, as_csv=as_csv)
    else:
        _print_text(found)


def _check(*, failed: bool, sort: str | None, top: int | None) -> None:
    if failed and (sort is not None or top is not None):
        raise PodiumError("--sort and --top go with the list of trials, not with --failed")
    if top is not None and sort is None:
        raise PodiumError(
            f"--top {top} needs --sort COLUMN, by which trials are the first: objective, or test"
        )


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


def _listed(reader: "Reader", trials: "pl.LazyFrame") -> "pl.DataFrame":
    """The trials with every column of the list."""
    import polars as pl

    from analysis.hyperparameters.pareto_fronts import has_time_objective, with_pareto_fronts
    from orchestrator.results.records.metric_columns import known_test_columns

    names = trials.collect_schema().names()
    hyperparameters = [name for name in names if name.startswith(_HP)]
    columns = ["trial_id", *_WHICH, *_OUTCOME, *known_test_columns(names), "seconds"]
    found = trials.select(*columns, *hyperparameters, "search", "test_seconds").collect()
    if has_time_objective(reader.study()):
        # A front is of the whole search, whatever is shown of it.
        whole = reader.trials().select(found.columns).collect()
        ids = found["trial_id"].implode()
        found = with_pareto_fronts(whole).filter(pl.col("trial_id").is_in(ids))
        columns.append("on_front")
    return found.select(*columns, *hyperparameters)


def _first(found: "pl.DataFrame", sort: str | None, top: int | None) -> "pl.DataFrame":
    """The first ``top`` rows by a column, which may be named as the text names it.

    Raises:
        PodiumError: there is no such column.
    """
    import polars as pl

    if sort is None:
        return found
    columns = _columns(found)
    by_name = {name: column.name for column in columns for name in (column.name, column.shown)}
    if sort not in by_name:
        known = ", ".join(column.shown for column in columns)
        raise PodiumError(f"--sort must be one of {known}; got {sort}")
    name = by_name[sort]
    is_number = found.schema[name] != pl.String
    ordered = found.sort(name, descending=is_number, nulls_last=True, maintain_order=True)
    return ordered if top is None else ordered.head(top)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """A column of the list: its name in JSON and CSV, and in the text."""

    name: str
    shown: str


def _columns(found: "pl.DataFrame") -> list[_Column]:
    """All columns in the order of the text: names first, then hyperparameters, scores last."""
    from orchestrator.results.records.metric_columns import known_test_columns, short_label

    tests = known_test_columns(found.columns)
    hyperparameters = [name for name in found.columns if name.startswith(_HP)]
    shown = {name: f"test {short_label(metric, k or 0)}" for name, (metric, k) in tests.items()}
    shown[next(iter(tests))] = "test"
    shown |= {name: name.removeprefix(_HP) for name in hyperparameters}
    ordered = (*_NAMES, *_NUMBERS, *hyperparameters, *_RESULTS, *tests)
    return [_Column(name=n, shown=shown.get(n, n)) for n in ordered if n in found.columns]


def _print_text(found: "pl.DataFrame") -> None:
    """The columns that have room, but for those that are empty or that all rows share."""
    columns = [column for column in _columns(found) if _is_telling(found[column.name])]
    by_use = sorted(columns, key=lambda column: found[column.name].null_count())
    hyperparameters = [column.shown for column in by_use if column.name.startswith(_HP)]
    names = {column.name: column.shown for column in columns}
    worth = (*_WORTH_MOST, *hyperparameters, "state", "seconds")
    text = fitted_text(
        found.select(list(names)).rename(names).to_dicts(),
        columns=list(names.values()),
        worth=[name for name in worth if name in names.values()],
    )
    say(text)


def _is_telling(values: "pl.Series") -> bool:
    """Whether a column has a value, and one that rows do not share if it says which they are."""
    known = values.drop_nulls().unique()
    if values.name == "state":
        return known.to_list() != ["COMPLETE"]
    if values.name in _WHICH and values.name != "same_as":
        return len(known) > 1
    return len(known) > 0 or values.name == "trial_id"


def _print_failures(
    folder: "Place", trials: "pl.LazyFrame", *, as_json: bool, as_csv: bool
) -> None:
    import polars as pl

    from orchestrator.results.records.store_paths import StudyPaths
    from orchestrator.results.storage.files import exists

    found = trials.filter(pl.col("state") == "FAILED").select(_FAILURE_COLUMNS).collect()
    places = [StudyPaths(folder).trial_log(trial_id) for trial_id in found["trial_id"]]
    rows = [
        {**row, _LOG_FILE: str(place) if exists(place) else None}
        for row, place in zip(found.to_dicts(), places, strict=True)
    ]
    if as_json or as_csv:
        columns = (*_FAILURE_COLUMNS, _LOG_FILE)
        print_table(rows, columns=columns, as_json=as_json, as_csv=as_csv)
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
        if row[_LOG_FILE]:
            say(one_line(f"  log file: {row[_LOG_FILE]}"))
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
