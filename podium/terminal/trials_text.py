"""Trials, and why some of them failed, as the lines that commands print."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from podium.orchestrator.results.records.metric_columns import known_test_columns, short_label
from podium.orchestrator.results.storage.printable_text import one_line
from podium.terminal.fitting_table import fitted_text

if TYPE_CHECKING:
    import polars as pl

    from podium.orchestrator.results.records.journal_records import RetriedFailure

HYPERPARAMETER = "hp."
"""How columns of hyperparameters begin."""

WHICH = ("stage", "block", "loss", "protocol", "repeat", "train_on", "fold", "same_as")
"""Columns that say which trial a row is, besides its id."""

# In the order of the text, which has hyperparameters before the results.
_NAMES = ("trial_id", *(name for name in WHICH if name not in ("repeat", "fold")), "state")
_NUMBERS = ("repeat", "fold")
_RESULTS = ("epochs_run", "seconds", "objective")
# What the text shows first where there is no room for all of it; then hyperparameters.
_WORTH_MOST = (
    *("trial_id", "loss", "test", "objective", "fold", "stage", "block", "protocol", "repeat"),
    "train_on",
)


def shown_names(found: "pl.DataFrame") -> dict[str, str]:
    """Column -> its name in the text, in the order of the text: scores are last."""
    tests = known_test_columns(found.columns)
    hyperparameters = [name for name in found.columns if name.startswith(HYPERPARAMETER)]
    shown = {name: f"test {short_label(metric, k or 0)}" for name, (metric, k) in tests.items()}
    shown[next(iter(tests))] = "test"
    shown |= {name: name.removeprefix(HYPERPARAMETER) for name in hyperparameters}
    ordered = (*_NAMES, *_NUMBERS, *hyperparameters, *_RESULTS, *tests)
    return {name: shown.get(name, name) for name in ordered if name in found.columns}


def trials_text(found: "pl.DataFrame") -> str:
    """The columns that have room, but for those that are empty or that all rows share.

    Args:
        found: trials, as of `podium.Results.select_trials`.
    """
    names = {name: shown for name, shown in shown_names(found).items() if _is_telling(found[name])}
    by_use = sorted(names, key=lambda name: found[name].null_count())
    hyperparameters = [names[name] for name in by_use if name.startswith(HYPERPARAMETER)]
    worth = (*_WORTH_MOST, *hyperparameters, "state", "seconds")
    return fitted_text(
        found.select(list(names)).rename(names).to_dicts(),
        columns=list(names.values()),
        worth=[name for name in worth if name in names.values()],
    )


def _is_telling(values: "pl.Series") -> bool:
    """Whether a column has a value, and one that rows do not share if it says which they are."""
    known = values.drop_nulls().unique()
    if values.name == "state":
        return known.to_list() != ["COMPLETE"]
    if values.name in WHICH and values.name != "same_as":
        return len(known) > 1
    return len(known) > 0 or values.name == "trial_id"


def failure_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Cause, traceback and log of each failed trial, and how they are retried.

    Args:
        rows: failed trials, as of `podium.Results.failures`.
    """
    if not rows:
        yield "No trial failed."
    for row in rows:
        yield one_line(f"{row['trial_id']}  {row['stage']} {row['search']}")
        yield one_line(f"  cause: {row['cause']}: {row['message']}")
        for name in ("traceback", "log"):
            if row[name]:
                yield f"  {name}:"
                yield "\n".join(f"    {line}" for line in row[name].rstrip().splitlines())
        if row["log_file"]:
            yield one_line(f"  log file: {row['log_file']}")
    if rows:
        yield "Once a cause is fixed, podium run STUDY --retry-failed [CAUSE]... retries them."


def retried_line(trial_id: str, state: str, failure: "RetriedFailure") -> str:
    """An earlier failure of a trial that was retried since, and what it is now."""
    what = f"{failure.stage} {failure.search}: {failure.cause}: {failure.message}"
    return one_line(f"{trial_id}  retried, now {state}; failed before, {what}")
