"""Rows of trials and small stores, for the tests of the results store."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from podium.errors import CorruptFileError
from podium.orchestrator.results.records.metric_columns import RECALL, known_test_columns
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import (
    Store,
    read_store,
    write_snapshot_files,
)
from podium.orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    write_checksummed,
)
from podium.orchestrator.results.storage.local_copies import local_copy
from podium.orchestrator.results.storage.locations import RemotePath
from podium.orchestrator.results.trial_files.commit_trials import commit_trial
from podium.orchestrator.results.trial_files.inventory import bad_files, trial_files
from podium.orchestrator.results.trial_files.parquet_file import encode, encode_many
from podium.orchestrator.results.trial_files.reader import Reader

KS = (1, 2)
NAME = "tiny"
STORE = Store(
    study=NAME,
    ks=KS,
    metrics=(RECALL,),
    hyperparameters={"easy": "bool", "margin": "float", "miner": "str", "proxies": "int"},
)
WIDE = replace(STORE, hyperparameters={"alpha": "float", **STORE.hyperparameters})
SCHEMA, WIDER = STORE.schema, WIDE.schema
VERSIONS = {
    "numerics_version": 1,
    **dict.fromkeys(("podium_version", "python_version", "torch_version"), "0.1.0"),
}
PROVENANCE = {"cpus": 2, **VERSIONS}


def score(role: str = "val", epoch: int = 1, value: float | None = 0.5) -> dict[str, object]:
    return {
        "fold": 0,
        "epoch": epoch,
        "role": role,
        "metric": "recall",
        "k": 1,
        "value": value,
        "hits": 5,
        "queries": 10,
        "gallery": 9,
    }


def class_hits(class_id: int) -> dict[str, object]:
    return {
        "fold": 0,
        "epoch": 1,
        "role": "val",
        "k": 1,
        "class_id": class_id,
        "queries": 4,
        "hits": 3,
    }


def retrieval(name: str) -> dict[str, object]:
    neighbour = {"class_name": "b", "is_correct": False, "similarity": 0.25, "png": b"\x00png"}
    return {"fold": 0, "class_name": name, "png": b"png", "neighbours": [neighbour, neighbour]}


def row(index: int, schema: pa.Schema = SCHEMA, /, **values: object) -> dict[str, object]:
    """The index-th trial of search ``s<index % 2>``; ``values`` replace columns."""
    known: dict[str, object] = {
        "study": NAME,
        "trial_id": f"t{index:03d}",
        "search": f"s{index % 2}",
        "stage": "search",
        "index": index // 2,
        "seed": 2**40 + index,
        "seed_index": 0,
        "state": "COMPLETE",
        "objective": index / 7,
        "epoch_selected": 2,
        "hp.margin": 0.1 * index,
        "hp.proxies": index,
        "hp.easy": index % 2 == 0,
        "hp.miner": "none",
        "started_at": datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC),
        "scores": [score("train"), score("val", 1, 0.25), score("val", 2, index / 7)],
        "class_hits": [class_hits(3), class_hits(1)],
        "test_scores": [],
        "test_class_hits": [],
        "test_retrievals": [],
    }
    return {**dict.fromkeys(schema.names), **known, **values}


def with_flat(values: Mapping[str, Any], schema: pa.Schema) -> dict[str, object]:
    """The row with flat test columns, as its recorder would make them of its test scores."""
    scores = [] if values["stage"] == "search" else values["test_scores"]
    flat: dict[str, object] = {}
    for name, key in known_test_columns(schema.names).items():
        found = [it["value"] for it in scores if (it["metric"], it["k"]) == key]
        flat[name] = sum(found) / len(found) if found else None
    return {**values, **flat}


def new_store(folder: Path, store: Store = STORE) -> StudyPaths:
    """A results folder without trials."""
    paths = StudyPaths(folder / NAME)
    study = {"name": NAME, "ks": list(KS)}
    write_snapshot_files(paths, store, study=study, provenance=PROVENANCE)
    return paths


def change_json(path: Path, **values: object) -> None:
    """Other values in a file of the store, with a checksum that fits them."""
    known = read_checksummed(path)
    assert known is not None
    write_checksummed(path, {**known, **values})


def rewrite(path: Path, table: pa.Table) -> None:
    """Other rows in a file of the store, with a checksum that fits them."""
    path.write_bytes(encode(table.replace_schema_metadata(SCHEMA.metadata)))


def rewrite_gathered(path: Path, table: pa.Table, count: int | None = None) -> Path:
    """Other rows in place of a gathered file, under the name that fits them."""
    path.unlink()
    content, checksum = encode_many(table.replace_schema_metadata(SCHEMA.metadata))
    name = f"{count or table.num_rows}-{checksum[:16]}.gathered.parquet"
    path.with_name(name).write_bytes(content)
    return path.with_name(name)


def commit_flat(paths: StudyPaths, schema: pa.Schema, values: Mapping[str, Any]) -> bool:
    """Commit a row of which flat test columns are missing."""
    return commit_trial(paths, schema, with_flat(values, schema))


def commit(
    paths: StudyPaths, *rows: Mapping[str, object], schema: pa.Schema = SCHEMA
) -> StudyPaths:
    """Commit rows, as another process does: this one has no copies of remote ones."""
    for values in rows:
        assert commit_flat(paths, schema, values)
        if isinstance(place := paths.trial(values["search"], values["trial_id"]), RemotePath):
            local_copy(place).unlink()
    return paths


def gathered_file(paths: StudyPaths, search: str) -> Path:
    """The only gathered file of a search."""
    (file,) = paths.trial_folder(search).glob("*.gathered.parquet")
    return file


def check_store(paths: StudyPaths) -> int:
    """Verify every trial file, of which some are read by plain readers only; counts trials."""
    if problems := bad_files(trial_files(paths), read_store(paths)):
        raise CorruptFileError("\n".join(problems))
    return Reader(paths.folder).trials().collect().height
