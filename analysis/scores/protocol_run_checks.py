"""The long tables that the statistics of validation protocols read, and what must hold of them.

Three tables. Every statistic documents which it reads; all checks are here.

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
| ``gpu_seconds`` | time of the run; null if unknown |

**Class hits**: one row per validated network and validation class: ``block``, ``loss``,
``protocol``, ``repeat``, ``config``, ``seed``, ``fold``, ``epoch``, ``class_id``, ``queries`` (at
least 1) and ``hits`` (0 to queries) at one K.

**Attempts**: one row per attempt at a trial: ``protocol``, ``trial``, ``number`` (from 1),
``stage``, ``state`` of the trial, ``gpu_seconds`` of the attempt (null if unknown) and
``device`` (null if unknown).

Scores are in any one unit; statistics answer in the same (points, if the table is in percent).
NaN is missing. A score of a run that did not complete is never compared: it was trained less.
"""

from collections.abc import Mapping

import polars as pl

from podium.errors import PodiumError

SEARCH = ("block", "loss", "protocol", "repeat")  # the columns that name one search
STATES = ("COMPLETE", "PRUNED", "FAILED")
_STAGES = ("search", "final")

_Types = Mapping[str, type[pl.DataType]]

_RUNS: _Types = {
    **dict.fromkeys(("block", "loss", "protocol", "stage", "config", "state"), pl.String),
    **dict.fromkeys(("repeat", "index", "seed", "fold"), pl.Int64),
    **dict.fromkeys(("val", "test", "gpu_seconds"), pl.Float64),
}
_RUN_KEYS = (*SEARCH, "stage", "config", "seed", "fold")
_RUNS_OPTIONAL = ("index", "fold", "gpu_seconds")

_CLASS_HITS: _Types = {
    **dict.fromkeys(("block", "loss", "protocol", "config"), pl.String),
    **dict.fromkeys(("repeat", "seed", "fold", "epoch", "class_id", "queries", "hits"), pl.Int64),
}
_CLASS_HIT_KEYS = (*SEARCH, "config", "seed", "fold", "epoch", "class_id")

_ATTEMPTS: _Types = {
    **dict.fromkeys(("protocol", "trial", "stage", "state", "device"), pl.String),
    "number": pl.Int64,
    "gpu_seconds": pl.Float64,
}
_ATTEMPT_KEYS = ("protocol", "trial", "number")


def checked_runs(runs: pl.DataFrame) -> pl.DataFrame:
    """The table of runs with its columns in order, typed, sorted by key, and NaN as null.

    ``index``, ``fold`` and ``gpu_seconds`` may be absent: they are null then.

    Raises:
        PodiumError: a column is missing or of the wrong type, a key is empty, a run occurs
            twice, a score is infinite, or a state, stage or the repeat of a search is not known.
    """
    frame = _typed(runs, _RUNS, "runs", optional=_RUNS_OPTIONAL)
    _refuse_empty(frame, [k for k in _RUN_KEYS if k not in ("repeat", "fold")], "runs")
    _refuse_unknown(frame, "state", STATES, "runs")
    _refuse_unknown(frame, "stage", _STAGES, "runs")
    if not frame.filter((pl.col("stage") == "search") & pl.col("repeat").is_null()).is_empty():
        raise PodiumError("a run of stage search belongs to a repeat; the table of runs has none")
    _refuse_infinite(frame, ("val", "test", "gpu_seconds"), "runs")
    _refuse_twice(frame, _RUN_KEYS, "runs")
    return frame.sort(_RUN_KEYS)


def checked_class_hits(class_hits: pl.DataFrame) -> pl.DataFrame:
    """The table of class hits with its columns in order, typed and sorted by key.

    Names are an Enum in the order of texts, since a study has millions of rows. ``fold`` may be
    absent: it is null then.

    Raises:
        PodiumError: a column is missing or of the wrong type, a key is empty, a class of a
            network occurs twice, or hits are not between 0 and queries.
    """
    frame = with_enums(_typed(class_hits, _CLASS_HITS, "class hits", optional=("fold",)))
    _refuse_empty(frame, [name for name in _CLASS_HITS if name != "fold"], "class hits")
    wrong = frame.filter(
        (pl.col("queries") < 1) | ~pl.col("hits").is_between(0, pl.col("queries"))
    )
    if not wrong.is_empty():
        row = wrong.row(0, named=True)
        raise PodiumError(
            "a class has at least 1 query and 0 to that many hits; class "
            f"{row['class_id']} of config {row['config']} has {row['hits']} of {row['queries']}"
        )
    ordered = frame.sort(_CLASS_HIT_KEYS)
    if _has_equal_neighbours(ordered, _CLASS_HIT_KEYS):
        _refuse_twice(frame, _CLASS_HIT_KEYS, "class hits")
    return ordered


def with_enums(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with its texts as Enums, whose order is that of the texts."""
    names = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.with_columns(
        pl.col(name).cast(pl.Enum(frame[name].unique().drop_nulls().sort())) for name in names
    )


def checked_attempts(attempts: pl.DataFrame) -> pl.DataFrame:
    """The table of attempts with its columns in order, typed and sorted by key.

    ``device`` may be absent: it is null then.

    Raises:
        PodiumError: a column is missing or of the wrong type, a key is empty, an attempt occurs
            twice, a state is not known, or a time is negative or infinite.
    """
    frame = _typed(attempts, _ATTEMPTS, "attempts", optional=("device",))
    _refuse_empty(frame, (*_ATTEMPT_KEYS, "stage", "state"), "attempts")
    _refuse_unknown(frame, "state", STATES, "attempts")
    _refuse_infinite(frame, ("gpu_seconds",), "attempts")
    negative = frame.filter(pl.col("gpu_seconds") < 0)
    if not negative.is_empty():
        row = negative.row(0, named=True)
        raise PodiumError(
            f"an attempt takes 0 seconds or more; attempt {row['number']} of {row['trial']} has "
            f"{row['gpu_seconds']}"
        )
    _refuse_twice(frame, _ATTEMPT_KEYS, "attempts")
    return frame.sort(_ATTEMPT_KEYS)


def _typed(
    frame: pl.DataFrame, types: _Types, table: str, *, optional: tuple[str, ...]
) -> pl.DataFrame:
    frame = frame.with_columns(
        pl.lit(None).alias(name) for name in optional if name not in frame.columns
    )
    missing = [name for name in types if name not in frame.columns]
    if missing:
        raise PodiumError(
            f"the table of {table} needs the columns {', '.join(types)}; it lacks "
            f"{', '.join(missing)}"
        )
    try:
        typed = frame.select(
            pl.col(name) if frame.schema[name] == pl.Enum else pl.col(name).cast(kind)
            for name, kind in types.items()
        )
    except pl.exceptions.InvalidOperationError as error:
        raise PodiumError(f"the table of {table} has a wrong type: {error}") from error
    return typed.with_columns(pl.selectors.float().fill_nan(None))


def _has_equal_neighbours(frame: pl.DataFrame, keys: tuple[str, ...]) -> bool:
    """Whether a row of a sorted frame has the keys of the row before it."""
    is_equal = [pl.col(name).eq_missing(pl.col(name).shift(1)) for name in keys]
    return bool(frame.select(pl.all_horizontal(is_equal).any()).item())


def _refuse_empty(frame: pl.DataFrame, keys: list[str] | tuple[str, ...], table: str) -> None:
    for name in keys:
        if frame[name].has_nulls():
            row = int(frame[name].is_null().arg_max() or 0)
            raise PodiumError(f"column {name!r} of the table of {table} is empty in row {row + 1}")


def _refuse_unknown(frame: pl.DataFrame, column: str, known: tuple[str, ...], table: str) -> None:
    others = frame.filter(~pl.col(column).is_in(known))[column]
    if len(others):
        raise PodiumError(
            f"column {column!r} of the table of {table} is one of {', '.join(known)}; it holds "
            f"{others[0]!r}"
        )


def _refuse_infinite(frame: pl.DataFrame, columns: tuple[str, ...], table: str) -> None:
    for name in columns:
        infinite = frame.filter(pl.col(name).is_infinite())
        if not infinite.is_empty():
            raise PodiumError(
                f"a number must be finite; column {name!r} of the table of {table} holds "
                f"{infinite[name][0]}"
            )


def _refuse_twice(frame: pl.DataFrame, keys: tuple[str, ...], table: str) -> None:
    twice = frame.filter(frame.select(keys).is_duplicated())
    if not twice.is_empty():
        row = twice.row(0, named=True)
        named = ", ".join(f"{name} {row[name]}" for name in keys)
        raise PodiumError(f"a row of the table of {table} occurs twice: {named}")
