"""The trials of a study that fit some conditions, sorted, and those that failed."""

import polars as pl

from podium.analysis.scores.shown_reader import ShownReader
from podium.errors import PodiumError
from podium.orchestrator.results.records.metric_columns import known_test_columns
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import exists
from podium.orchestrator.results.storage.locations import Place
from podium.terminal.trials_text import HYPERPARAMETER, WHICH, shown_names

_OUTCOME = ("state", "epochs_run", "objective")
_FAILURE = ("trial_id", "search", "stage", "cause", "message", "traceback", "log")


def selected_trials(trials: pl.LazyFrame, sort: str | None, top: int | None) -> pl.DataFrame:
    """The list of trials: see `podium.Results.select_trials`."""
    if top is not None and sort is None:
        raise PodiumError(
            f"top {top} needs sort, the column by which trials are the first: objective, or test"
        )
    if top is not None and top < 1:
        raise PodiumError(f"top must be at least 1; got {top}")
    return _first(_listed(trials), sort, top)


def failed_trials(folder: Place, trials: pl.LazyFrame) -> pl.DataFrame:
    """The failed trials: see `podium.Results.failures`."""
    found = trials.filter(pl.col("state") == "FAILED").select(_FAILURE).collect()
    places = [StudyPaths(folder).trial_log(trial_id) for trial_id in found["trial_id"]]
    files = [str(place) if exists(place) else None for place in places]
    return found.with_columns(pl.Series("log_file", files, dtype=pl.String))


def trials_with(reader: ShownReader, **wanted: str | int | None) -> pl.LazyFrame:
    """The trials with these values of columns; None means all, a loss may have its stored name.

    Raises:
        PodiumError: no trial has such a value; those that there are are named.
    """
    trials, shown = reader.trials(), reader.shown
    asked = {name: shown.get(str(it), it) for name, it in wanted.items() if it is not None}
    known = trials.select(*asked).unique().collect() if asked else pl.DataFrame()
    for name, value in asked.items():
        values = known[name].drop_nulls().unique().sort()
        if value not in values:
            choices = ", ".join(map(str, values)) or "those of trials, and there are none yet"
            raise PodiumError(f"{name} must be one of {choices}; got {value}")
    return trials.filter(*(pl.col(name) == value for name, value in asked.items()))


def _listed(trials: pl.LazyFrame) -> pl.DataFrame:
    """The trials with every column of the list."""
    names = trials.collect_schema().names()
    hyperparameters = [name for name in names if name.startswith(HYPERPARAMETER)]
    columns = ["trial_id", *WHICH, *_OUTCOME, *known_test_columns(names), "seconds"]
    return trials.select(*columns, *hyperparameters).collect()


def _first(found: pl.DataFrame, sort: str | None, top: int | None) -> pl.DataFrame:
    """The first ``top`` rows by a column, which may be named as the text names it."""
    if sort is None:
        return found
    shown = shown_names(found)
    name = next((name for name, text in reversed(shown.items()) if sort in (name, text)), None)
    if name is None:
        raise PodiumError(f"sort must be one of {', '.join(shown.values())}; got {sort}")
    is_number = found.schema[name] != pl.String
    ordered = found.sort(name, descending=is_number, nulls_last=True, maintain_order=True)
    return ordered if top is None else ordered.head(top)
