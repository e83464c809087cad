"""The long tables that the statistics of validation protocols read, typed and in one order.

Three tables; every statistic documents which it reads. ``podium verify`` checks the stored rows.

**Runs**: one row per training run, or per fold of a run that trains several.

| column | meaning |
|---|---|
| ``block``, ``loss``, ``protocol`` | what the run is of; statistics never mix them |
| ``stage`` | ``search``: its ``val`` took part in choosing a config. ``final``: it did not |
| ``repeat`` | which repeat of the search; null for a final run that serves all repeats |
| ``config`` | name or hash of the hyperparameters |
| ``index`` | number of the suggestion within its search; null if unknown |
| ``seed`` | seed of the run. Equal seeds of different configs are paired |
| ``fold`` | null without folds. Folds of a run are averaged |
| ``state`` | ``COMPLETE``, ``PRUNED`` or ``FAILED`` |
| ``val`` | validation score by which the protocol chooses, larger is better; null if none |
| ``test`` | score on the test classes, out of quarantine; null if none |

**Class hits**: one row per validated network and validation class: ``block``, ``loss``,
``protocol``, ``repeat``, ``config``, ``seed``, ``fold``, ``epoch``, ``class_id``, ``queries`` (at
least 1) and ``hits`` (0 to queries) at one K.

**Attempts**: one row per attempt at a trial: ``protocol``, ``trial``, ``number`` (from 1),
``stage``, ``state`` of the trial, ``gpu_seconds`` of the attempt (null if unknown) and
``device`` (null if unknown).

Scores are in any one unit; statistics answer in the same (points, if the table is in percent).
NaN is missing. A score of a run that did not complete is never compared: it was trained less.
"""

from typing import Literal

import polars as pl

from podium.errors import PodiumError

SEARCH = ("block", "loss", "protocol", "repeat")  # the columns that name one search

_TYPES: dict[str, dict[str, type[pl.DataType]]] = {
    "runs": {
        **dict.fromkeys(("block", "loss", "protocol", "stage", "config", "state"), pl.String),
        **dict.fromkeys(("repeat", "index", "seed", "fold"), pl.Int64),
        **dict.fromkeys(("val", "test"), pl.Float64),
    },
    "class hits": {
        **dict.fromkeys(("block", "loss", "protocol", "config"), pl.String),
        **dict.fromkeys(("repeat", "seed", "fold", "epoch"), pl.Int64),
        **dict.fromkeys(("class_id", "queries", "hits"), pl.Int64),
    },
    "attempts": {
        **dict.fromkeys(("protocol", "trial", "stage", "state", "device"), pl.String),
        "number": pl.Int64,
        "gpu_seconds": pl.Float64,
    },
}
_KEYS = {
    "runs": (*SEARCH, "stage", "config", "seed", "fold"),
    "class hits": (*SEARCH, "config", "seed", "fold", "epoch", "class_id"),
    "attempts": ("protocol", "trial", "number"),
}


def checked(frame: pl.DataFrame, table: Literal["runs", "class hits", "attempts"]) -> pl.DataFrame:
    """One of the tables with its columns in order, typed, sorted by key, and NaN as null.

    Texts may be Enums, whose order is that of the texts.

    Raises:
        PodiumError: a row occurs twice.
    """
    keys = _KEYS[table]
    typed = (
        pl.col(name) if frame.schema[name] == pl.Enum else pl.col(name).cast(kind)
        for name, kind in _TYPES[table].items()
    )
    ordered = frame.select(typed).with_columns(pl.selectors.float().fill_nan(None)).sort(keys)
    is_equal = [pl.col(name).eq_missing(pl.col(name).shift()) for name in keys]
    twice = ordered.filter(pl.all_horizontal(is_equal))
    if len(twice):
        row = twice.row(0, named=True)
        named = ", ".join(f"{name} {row[name]}" for name in keys)
        raise PodiumError(f"a row of the table of {table} occurs twice: {named}")
    return ordered
