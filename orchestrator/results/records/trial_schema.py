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

_SCORES = pa.list_(
    pa.struct(
        [
            ("fold", pa.int32()),
            ("epoch", pa.int32()),
            ("role", pa.string()),
            ("metric", pa.string()),
            ("k", pa.int32()),
            ("value", pa.float64()),
            ("hits", pa.int64()),
            ("queries", pa.int64()),
            ("gallery", pa.int64()),
        ]
    )
)

_CLASS_HITS = pa.list_(
    pa.struct(
        [
            ("fold", pa.int32()),
            ("epoch", pa.int32()),
            ("role", pa.string()),
            ("k", pa.int32()),
            ("class_id", pa.int32()),
            ("queries", pa.int64()),
            ("hits", pa.int64()),
        ]
    )
)

_RETRIEVALS = pa.list_(
    pa.struct(
        [
            ("fold", pa.int32()),
            ("class_name", pa.string()),
            ("png", pa.binary()),
            (
                "neighbours",
                pa.list_(
                    pa.struct(
                        [
                            ("class_name", pa.string()),
                            ("is_correct", pa.bool_()),
                            ("similarity", pa.float32()),
                            ("png", pa.binary()),
                        ]
                    )
                ),
            ),
        ]
    )
)

IDENTITY_COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("study", pa.string()),
    ("trial_id", pa.string()),
    ("search", pa.string()),
    ("stage", pa.string()),  # search | final | baseline
    ("index", pa.int32()),  # number of the suggestion within its search or stage
    ("config_hash", pa.string()),
    ("is_default", pa.bool_()),  # the published-default config
    ("is_winner", pa.bool_()),  # final stage: the config its search selected ...
    ("selected_from", pa.int32()),  # ... out of so many search trials; null in other stages
    ("block", pa.string()),
    ("dataset", pa.string()),
    ("backbone", pa.string()),
    ("weights", pa.string()),  # what the backbone started from
    ("embedding_dim", pa.int32()),
    ("image_size", pa.int32()),  # null where images have a size of their own
    ("loss", pa.string()),
    ("protocol", pa.string()),  # label of the search's
    ("split_protocol", pa.string()),  # kind of the one that parts this trial's classes
    ("train_on", pa.string()),  # final stage: part | all
    ("repeat", pa.int32()),
    ("fold", pa.int32()),  # null when one trial holds several folds
    ("num_folds", pa.int32()),
    ("seed", pa.int64()),
    ("seed_index", pa.int32()),
    ("leaks", pa.bool_()),  # test classes chose its epoch or its config
    ("same_as", pa.string()),  # trial whose results these are, trained for another search
    ("split_hash", pa.string()),
    ("protocol_hash", pa.string()),
    ("test_hash", pa.string()),
    ("data_hash", pa.string()),
    ("settings", pa.string()),  # JSON: all that defines the trial, enough to run it again
)

_OUTCOME_COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("state", pa.string()),  # COMPLETE | PRUNED | FAILED
    ("cause", pa.string()),
    ("message", pa.string()),
    ("traceback", pa.string()),
    ("log", pa.string()),
    ("rung", pa.int32()),
    ("epochs_planned", pa.int32()),
    ("epochs_run", pa.int32()),
    ("epoch_selected", pa.int32()),
    ("selection_rule", pa.string()),
    ("test_readings", pa.int32()),  # how often the trial scored test classes
    ("objective", pa.float64()),
)

COST_COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("seconds", pa.float64()),
    ("test_seconds", pa.float64()),  # the part of them spent on test classes
    ("peak_memory_mb", pa.float64()),
    ("attempts", pa.int32()),
    ("node", pa.string()),
    ("device", pa.string()),
    ("executor", pa.string()),  # population | single
    ("started_at", pa.timestamp("us", tz="UTC")),
    ("ended_at", pa.timestamp("us", tz="UTC")),
    ("podium_version", pa.string()),
    ("torch_version", pa.string()),
    ("python_version", pa.string()),
    ("git_commit", pa.string()),
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

    Args:
        ks: values of K of the study, the primary one first.
        hyperparameters: name -> type, over all losses of the study; columns are ``hp.<name>``.
        metrics: metrics with a column for each K, of validation and of test; the first is the
            objective of searches. Where that is recall, those without K have one of test.
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
        *((name, pa.float64()) for name in scores),
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
