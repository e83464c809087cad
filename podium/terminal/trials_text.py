"""Trials, and why some of them failed, as the lines that commands print."""

import re
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

_SEARCHED = "searched"
# In the order of the text, behind the loss and its scores.
_FIRST = (_SEARCHED, "block", "winner", "stage", "protocol", "train_on", "state")
_BETWEEN = ("seconds", "epochs_run")  # worth less than what is last, as other test scores are
_LAST = ("repeat", "fold", "same_as", "trial_id")


def shown_names(found: "pl.DataFrame") -> dict[str, str]:
    """Column -> its name in the text."""
    tests = known_test_columns(found.columns)
    shown = {name: f"test {short_label(metric, k or 0)}" for name, (metric, k) in tests.items()}
    shown |= {next(iter(tests)): "test", "block": "setting"}
    return {name: shown.get(name, name.removeprefix(HYPERPARAMETER)) for name in found.columns}


def trials_text(found: "pl.DataFrame") -> str:
    """The columns that have room, but for those that are empty or that all rows share.

    Scores are in percent, label distances as they are; what was searched is cut to the room.

    Args:
        found: trials, as of `podium.Results.select_trials`.
    """
    found = found.with_columns(_searched(found))
    names = shown_names(found)
    tests = known_test_columns(found.columns)
    test, *others = tests
    parts = (("loss", test, "objective", *_FIRST), (*_BETWEEN, *others), _LAST)
    first, between, last = ([it for it in of if _is_telling(found[it])] for of in parts)
    distances = [it for it in tests if tests[it][0] == "mean_label_distance"]
    factors = dict.fromkeys(("objective", *tests), 100) | dict.fromkeys((*distances, "seconds"), 1)
    rows = [
        {
            names[name]: f"{factors[name] * value:.2f}"
            if name in factors and value is not None
            else value
            for name, value in row.items()
        }
        for row in found.to_dicts()
    ]
    return fitted_text(
        rows,
        columns=[names[name] for name in (*first, *between, *last)],
        worth=[names[name] for name in (*first, *last)],
        right=[names[name] for name in factors],
        cut=_SEARCHED,
    )


def _searched(found: "pl.DataFrame") -> "pl.Series":
    """``lr=1.3e-4 margin=.38`` of each row: what varies between the trials of its loss, or all."""
    import polars as pl  # the command line imports it for those who read results

    hyperparameters = [name for name in found.columns if name.startswith(HYPERPARAMETER)]
    varying = {
        loss: [name for name in hyperparameters if part[name].drop_nulls().n_unique() > 1]
        or hyperparameters
        for (loss,), part in found.group_by("loss")
    }
    names = {it: it.removeprefix(HYPERPARAMETER) for it in hyperparameters}
    texts = [
        " ".join(
            f"{names[it].replace('learning_rate', 'lr')}={_short(row[it])}"
            for it in varying[row["loss"]]
            if row[it] is not None
        )
        for row in found.to_dicts()
    ]
    return pl.Series(_SEARCHED, [text or None for text in texts], dtype=pl.String)


def _short(value: object) -> str:
    """A value to two digits or as an integer: ``1.3e-4``, ``.38``, ``120``."""
    if not isinstance(value, float):
        return cell_text(value)
    form = ".1e" if 0 < abs(value) < 1e-3 else ".2g" if abs(value) < 100 else ".0f"
    return re.sub(r"^0(?=\.)|(?<=e-)0", "", f"{value:{form}}")


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
