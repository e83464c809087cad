"""The Parquet schema: one trial = one file = one row, with the details nested beside it.

Test results have columns of their own (``TEST_COLUMNS``, and the flat ones of
`metric_columns.flat_test_column`); the reader that feeds searches never projects them.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Literal

import pyarrow as pa

from podium.orchestrator.results.records.metric_columns import (
    METRICS_WITHOUT_K,
    RECALL,
    StoredMetric,
    flat_test_column,
    score_column,
)

SCHEMA_VERSION = 5

HyperparameterType = Literal["float", "int", "bool", "str"]

ARROW_TYPES: dict[HyperparameterType, pa.DataType] = {
    "float": pa.float64(),
    "int": pa.int64(),
    "bool": pa.bool_(),
    "str": pa.string(),
}

_TEXT, _FLAG, _NUMBER = pa.string(), pa.bool_(), pa.float64()
_INT, _LONG, _TIME = pa.int32(), pa.int64(), pa.timestamp("us", tz="UTC")


def _nested(**columns: pa.DataType) -> pa.DataType:
    """Rows within a row, of these columns."""
    return pa.list_(pa.struct([*columns.items()]))


_PLACE = {"fold": _INT, "epoch": _INT, "role": _TEXT}
_SCORES = _nested(
    **_PLACE, metric=_TEXT, k=_INT, value=_NUMBER, hits=_LONG, queries=_LONG, gallery=_LONG
)
_CLASS_HITS = _nested(**_PLACE, k=_INT, class_id=_INT, queries=_LONG, hits=_LONG)
_NEIGHBOURS = _nested(class_name=_TEXT, is_correct=_FLAG, similarity=pa.float32(), png=pa.binary())
_RETRIEVALS = _nested(fold=_INT, class_name=_TEXT, png=pa.binary(), neighbours=_NEIGHBOURS)

IDENTITY_COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("study", _TEXT),
    ("trial_id", _TEXT),
    ("search", _TEXT),
    ("stage", _TEXT),  # search | final | baseline
    ("index", _INT),  # number of the suggestion within its search or stage
    ("config_hash", _TEXT),
    ("is_default", _FLAG),  # the published-default config
    ("is_winner", _FLAG),  # final stage: the config its search selected ...
    ("selected_from", _INT),  # ... out of so many search trials; null in other stages
    ("block", _TEXT),
    ("dataset", _TEXT),
    ("backbone", _TEXT),
    ("weights", _TEXT),  # what the backbone started from
    ("embedding_dim", _INT),
    ("image_size", _INT),  # null where images have a size of their own
    ("loss", _TEXT),
    ("protocol", _TEXT),  # label of the search's
    ("split_protocol", _TEXT),  # kind of the one that parts this trial's classes
    ("train_on", _TEXT),  # final stage: part | all
    ("repeat", _INT),
    ("fold", _INT),  # null when one trial holds several folds
    ("num_folds", _INT),
    ("seed", _LONG),
    ("seed_index", _INT),
    ("leaks", _FLAG),  # test classes chose its epoch or its config
    ("same_as", _TEXT),  # trial whose results these are, trained for another search
    ("split_hash", _TEXT),
    ("protocol_hash", _TEXT),
    ("test_hash", _TEXT),
    ("data_hash", _TEXT),
    ("settings", _TEXT),  # JSON: all that defines the trial, enough to run it again
)

_OUTCOME_COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("state", _TEXT),  # COMPLETE | PRUNED | FAILED
    ("cause", _TEXT),
    ("message", _TEXT),
    ("traceback", _TEXT),
    ("log", _TEXT),
    ("rung", _INT),
    ("epochs_planned", _INT),
    ("epochs_run", _INT),
    ("epoch_selected", _INT),
    ("selection_rule", _TEXT),
    ("test_readings", _INT),  # how often the trial scored test classes
    ("objective", _NUMBER),
)

COST_COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("seconds", _NUMBER),
    ("test_seconds", _NUMBER),  # the part of them spent on test classes
    ("peak_memory_mb", _NUMBER),
    ("attempts", _INT),
    ("node", _TEXT),
    ("device", _TEXT),
    ("executor", _TEXT),  # population | single
    ("started_at", _TIME),
    ("ended_at", _TIME),
    ("podium_version", _TEXT),
    ("torch_version", _TEXT),
    ("python_version", _TEXT),
    ("git_commit", _TEXT),
)

NESTED_COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("scores", _SCORES),
    ("class_hits", _CLASS_HITS),
)

TEST_COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("test_scores", _SCORES),
    ("test_class_hits", _CLASS_HITS),
    ("test_retrievals", _RETRIEVALS),
)


def trial_schema(
    ks: Sequence[int],
    hyperparameters: Mapping[str, HyperparameterType],
    metrics: Sequence[StoredMetric] = (RECALL,),
) -> pa.Schema:
    """The schema of every trial file of a study; all files of a study share it.

    Hyperparameters of all losses have columns ``hp.<name>``. Metrics have a column for each K, the
    primary one first, of validation and of test; the first metric is the objective of searches.
    Where that is recall, metrics without K have a column of test.
    """
    at_k = [(metric.name, k) for metric in metrics for k in ks]
    without_k = METRICS_WITHOUT_K if metrics[0] == RECALL else ()
    scores = [
        *(score_column(metric, k) for metric, k in at_k),
        *(flat_test_column(metric, k) for metric, k in at_k),
        *(flat_test_column(metric, None) for metric in without_k),
    ]
    typed = [(f"hp.{name}", ARROW_TYPES[kind]) for name, kind in sorted(hyperparameters.items())]
    columns = (
        *IDENTITY_COLUMNS,
        *typed,
        *_OUTCOME_COLUMNS,
        *((name, _NUMBER) for name in scores),
        *COST_COLUMNS,
        *NESTED_COLUMNS,
        *TEST_COLUMNS,
    )
    metadata = {
        "podium_schema_version": str(SCHEMA_VERSION),
        "podium_objective": f"{metrics[0].direction} {metrics[0].name} at {ks[0]}",
        "podium_metrics": json.dumps([metric._asdict() for metric in metrics]),
    }
    return pa.schema([pa.field(name, kind) for name, kind in columns], metadata=metadata)
