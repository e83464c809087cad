"""Trials, and why some of them failed, as the lines that commands print."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from podium.orchestrator.results.records.metric_columns import (
    HYPERPARAMETER,
    known_test_columns,
    short_label,
)
from podium.orchestrator.results.storage.printable_text import one_line
from podium.terminal.fitting_table import fitted_text
from podium.terminal.printing import cell_text

if TYPE_CHECKING:
    import polars as pl

    from podium.orchestrator.results.records.journal_records import RetriedFailure

WHICH = (
    *("stage", "block", "loss", "winner"),
    *("protocol", "repeat", "train_on", "fold", "same_as"),
)
"""Columns that say which trial a row is, besides its id."""

# In the order of the text, around what was searched and the scores.
_FIRST = ("loss", "block", "stage", "winner", "protocol", "train_on")
_LAST = ("state", "epochs_run", "seconds", "repeat", "fold", "same_as", "trial_id")
_SEARCHED = "searched"
# What the text shows first where there is no room for all of it.
_WORTH_MOST = (
    *("loss", "test", "objective", "trial_id", "winner", _SEARCHED, "fold", "stage", "block"),
    *("protocol", "repeat", "train_on", "state", "seconds"),
)


def shown_names(found: "pl.DataFrame") -> dict[str, str]:
    """Column -> its name in the text."""
    tests = known_test_columns(found.columns)
    shown = {name: f"test {short_label(metric, k or 0)}" for name, (metric, k) in tests.items()}
    shown[next(iter(tests))] = "test"
    return {name: shown.get(name, name.removeprefix(HYPERPARAMETER)) for name in found.columns}


def trials_text(found: "pl.DataFrame") -> str:
    """The columns that have room, but for those that are empty or that all rows share.

    Scores are in percent, label distances as they are.

    Args:
        found: trials, as of `podium.Results.select_trials`.
    """
    names = shown_names(found)
    tests = known_test_columns(found.columns)
    scores = [name for name in ("objective", *tests) if _is_telling(found[name])]
    first, last = ([it for it in of if _is_telling(found[it])] for of in (_FIRST, _LAST))
    searched = _searched(found)
    columns = [*first, *([_SEARCHED] if any(searched) else []), *scores, *last]
    distances = [it for it in scores if tests.get(it, ("", 0))[0] == "mean_label_distance"]
    factors = dict.fromkeys(scores, 100) | dict.fromkeys((*distances, "seconds"), 1)
    rows = [
        {
            names.get(name, name): f"{factors[name] * row[name]:.2f}"
            if name in factors and row[name] is not None
            else (row | {_SEARCHED: text})[name]
            for name in columns
        }
        for row, text in zip(found.to_dicts(), searched, strict=True)
    ]
    shown = [names.get(name, name) for name in columns]
    worth = [name for name in _WORTH_MOST if name in shown]
    right = [names.get(name, name) for name in factors]
    return fitted_text(rows, columns=shown, worth=worth, right=right)


def _searched(found: "pl.DataFrame") -> list[str]:
    """``lr=0.0013 margin=0.38`` of each row: what varies between the trials of its loss."""
    hyperparameters = [name for name in found.columns if name.startswith(HYPERPARAMETER)]
    varying = {
        loss: [name for name in hyperparameters if part[name].drop_nulls().n_unique() > 1]
        for (loss,), part in found.group_by("loss")
    }
    return [
        " ".join(
            f"{name.removeprefix(HYPERPARAMETER)}={cell_text(row[name])}"
            for name in varying[row["loss"]]
            if row[name] is not None
        )
        for row in found.to_dicts()
    ]


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
