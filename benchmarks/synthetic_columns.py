"""Columns of trials that were never trained, in the schema of the results store.

Suffixes of arrays: E epochs, K the study's K, C classes.
"""

import io
import json
from datetime import UTC, datetime, timedelta
from functools import cache

import numpy as np
import pyarrow as pa
from PIL import Image

from benchmarks.synthetic_rows import HYPERPARAMETERS, KS, Row, Size
from trainables.settings.training_settings import TrainingSettings
from trainables.settings.trial_settings import (
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
    TrialSettings,
)

_QUERIES = 40  # a class
_TRAINING = TrainingSettings()
_STARTED_AT = datetime(2026, 1, 5, 8, tzinfo=UTC)


def trial_table(rows: list[Row], schema: pa.Schema, size: Size) -> pa.Table:
    flat = pa.Table.from_pylist([_flat(row, size) for row in rows], schema=_flat_schema(schema))
    nested = _nested(rows, schema, size)
    columns = [
        nested[field.name] if field.name in nested else flat[field.name] for field in schema
    ]
    return pa.table(columns, schema=schema)


def _flat_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field for field in schema if not pa.types.is_list(field.type)])


def _flat(row: Row, size: Size) -> dict[str, object]:
    block, loss = row.search.block, row.search.loss
    recalls = _by_k(_validation(row, row.epochs))
    started_at = _STARTED_AT + timedelta(seconds=70 * row.index)
    seconds = 15.0 * max(1, row.epochs)
    return {
        "study": "synthetic",
        "trial_id": row.trial_id,
        "search": row.search.id,
        "stage": row.stage,
        "index": row.index,
        "config_hash": f"{loss}.{row.config}",
        "is_default": row.is_default,
        "is_winner": row.is_winner,
        "selected_from": size.trials if row.stage == "final" else None,
        "block": block.label,
        "dataset": block.dataset,
        "backbone": block.backbone,
        "weights": "random",
        "embedding_dim": block.embedding_dim,
        "loss": loss,
        "protocol": row.search.protocol,
        "split_protocol": "fixed",
        "train_on": "part" if row.stage == "final" else None,
        "repeat": 0,
        "fold": 0,
        "num_folds": 1,
        "seed": 7 if row.stage == "search" else 1000 + row.seed_index,
        "seed_index": row.seed_index,
        "leaks": False,
        **{f"{name}_hash": f"{name}-{block.dataset}" for name in ("split", "protocol", "test")},
        "settings": _settings(row),
        **{f"hp.{name}": v for name, v in zip(HYPERPARAMETERS, row.values, strict=False)},
        "state": row.state,
        "cause": None if row.has_scores else "diverged",
        "message": None if row.has_scores else "loss is nan at epoch 1",
        "rung": 1 if row.state == "PRUNED" else None,
        "epochs_planned": size.epochs,
        "epochs_run": row.epochs,
        "epoch_selected": row.epochs if row.has_scores else None,
        "selection_rule": "best_val_epoch",
        "test_readings": int(row.is_tested),
        "objective": recalls[0] if row.has_scores else None,
        **{
            f"val_recall_at_{k}": value if row.has_scores else None
            for k, value in zip(KS, recalls, strict=True)
        },
        "seconds": seconds,
        "test_seconds": 2.0 * row.is_tested,
        "peak_memory_mb": 1800.0,
        "attempts": 1,
        "node": "node-a",
        "device": "cuda",
        "executor": "single",
        "started_at": started_at,
        "ended_at": started_at + timedelta(seconds=seconds),
        "podium_version": "0.1.0",
        "torch_version": "2.15.0",
        "python_version": "3.11.7",
        "git_commit": "0123abc",
    }


def _settings(row: Row) -> str:
    """All that defines the trial, as a worker writes it."""
    block = row.search.block
    hyperparameters = dict(zip(HYPERPARAMETERS, row.values, strict=False))
    settings = TrialSettings(
        dataset=DatasetSettings(name=block.dataset),
        protocol=ProtocolSettings(),
        folds=(0,),
        backbone=BackboneSettings(name=block.backbone),
        embedding_dim=block.embedding_dim,
        loss=row.search.loss,
        hyperparameters=hyperparameters,
        training=_TRAINING,
        seed=row.seed_index,
        ks=KS,
    )
    return json.dumps(settings.to_dict())


def _validation(row: Row, epoch: int) -> float:
    return row.recall + 0.2 - 0.3 / (epoch + 1)


def _by_k(recall: float) -> list[float]:
    """Recalls that grow with K."""
    first = min(max(recall, 0.0), 0.98)
    return [1 - (1 - first) / k**0.7 for k in KS]


def _nested(rows: list[Row], schema: pa.Schema, size: Size) -> dict[str, pa.Array]:
    val = [_val_grid(row) if row.has_scores else np.empty((0, len(KS))) for row in rows]
    test = [np.array([_by_k(row.recall)]) if row.is_tested else val[0][:0] for row in rows]
    first = [grid_EK[:, :1] for grid_EK in val]
    return {
        "scores": _scores(val, rows, "val", size.val_classes, schema.field("scores").type),
        "class_hits": _hits(first, rows, "val", size.val_classes, schema.field("class_hits").type),
        "test_scores": _scores(
            test, rows, "test", size.test_classes, schema.field("test_scores").type
        ),
        "test_class_hits": _hits(
            test, rows, "test", size.test_classes, schema.field("test_class_hits").type
        ),
        "test_retrievals": pa.array(
            [_retrievals(row, size) for row in rows], schema.field("test_retrievals").type
        ),
    }


def _val_grid(row: Row) -> np.ndarray:
    """Recall of each epoch and K."""
    return np.array([_by_k(_validation(row, epoch)) for epoch in _epochs(row)])


def _epochs(row: Row) -> range:
    return range(1, row.epochs + 1) if row.epochs else range(1)


def _scores(
    grids: list[np.ndarray], rows: list[Row], role: str, classes: int, kind: pa.DataType
) -> pa.Array:
    total = classes * _QUERIES
    hits = np.concatenate([np.rint(grid_EK * total).ravel() for grid_EK in grids])
    place = _places(grids, rows, role)
    place |= {"metric": pa.array(["recall"] * len(hits)), "value": hits / total}
    place |= {"hits": hits.astype(int), "queries": np.full(len(hits), total)}
    place |= {"gallery": np.full(len(hits), total - 1)}
    return _lists(place, [grid_EK.size for grid_EK in grids], kind)


def _hits(
    grids: list[np.ndarray], rows: list[Row], role: str, classes: int, kind: pa.DataType
) -> pa.Array:
    """Hits spread over classes of which the first are the easiest."""
    slope_C = np.linspace(0.15, -0.15, classes)
    recall = np.concatenate([grid_EK.ravel() for grid_EK in grids])
    hits = np.rint(np.clip(recall[:, None] + slope_C, 0, 1) * _QUERIES).astype(int)
    place = {
        name: np.repeat(np.asarray(values), classes)
        for name, values in _places(grids, rows, role).items()
    }
    place["class_id"] = np.tile(np.arange(classes), len(recall))
    place |= {"queries": np.full(hits.size, _QUERIES), "hits": hits.ravel()}
    return _lists(place, [grid_EK.size * classes for grid_EK in grids], kind)


def _places(grids: list[np.ndarray], rows: list[Row], role: str) -> dict[str, np.ndarray]:
    """What stands beside each value of the grids: epoch, K and role."""
    epochs, ks = [np.empty(0, int)], [np.empty(0, int)]
    for grid_EK, row in zip(grids, rows, strict=True):
        shown = list(_epochs(row))[-len(grid_EK) :] if len(grid_EK) else []
        epochs.append(np.repeat(np.array(shown, int), grid_EK.shape[1]))
        ks.append(np.tile(np.array(KS[: grid_EK.shape[1]]), len(grid_EK)))
    count = sum(map(len, ks))
    return {
        "fold": np.zeros(count, int),
        "epoch": np.concatenate(epochs),
        "role": np.array([role] * count, dtype=object),
        "k": np.concatenate(ks),
    }


def _lists(columns: dict[str, np.ndarray], lengths: list[int], kind: pa.DataType) -> pa.Array:
    fields = list(kind.value_type)
    values = pa.StructArray.from_arrays(
        [pa.array(columns[field.name]).cast(field.type) for field in fields], fields=fields
    )
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, type=kind)


def _retrievals(row: Row, size: Size) -> list[dict[str, object]]:
    if not (size.thumbnails and row.is_tested and row.seed_index < 2):
        return []
    wrong = round(5 * (1 - row.recall))
    return [
        {
            "fold": 0,
            "class_name": f"{query + 1:03d}.Class_{query}",
            "png": _picture(query, 0),
            "neighbours": [
                {
                    "class_name": f"{query + 1 + shift:03d}.Class_{query + shift}",
                    "is_correct": not shift,
                    "similarity": 0.95 - 0.05 * place,
                    "png": _picture(query + shift, place),
                }
                for place in range(1, 6)
                for shift in [place if place > 5 - wrong else 0]
            ],
        }
        for query in range(4)
    ]


@cache
def _picture(class_id: int, variant: int) -> bytes:
    """A PNG of 96 x 96 coloured pixels about as large as one of a photograph."""
    generator = np.random.default_rng([class_id, variant])
    coarse = generator.integers(0, 256, (24, 24, 3), dtype=np.uint8)
    image = Image.fromarray(coarse).resize((96, 96), Image.Resampling.BICUBIC)
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()
