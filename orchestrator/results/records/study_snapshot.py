"""The snapshot of a study, written when it first starts: name, columns, study, provenance.

``store.json`` names the study and the columns of its trials, so that a folder without a single
trial can be read, and one whose files were written before the study grew as well. It is written
first and ``study.json`` last, so a folder with a ``study.json`` has everything.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PositiveInt,
    StrictInt,
    TypeAdapter,
    ValidationError,
)
from pydantic.dataclasses import dataclass

from podium.errors import CorruptFileError, PodiumError
from podium.orchestrator.results.records.fairness_record import Fairness
from podium.orchestrator.results.records.json_records import first_problem, parsed
from podium.orchestrator.results.records.metric_columns import StoredMetric
from podium.orchestrator.results.records.store_paths import FILE_NAME, StudyPaths
from podium.orchestrator.results.records.trial_schema import (
    SCHEMA_VERSION,
    HyperparameterType,
    trial_schema,
)
from podium.orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    write_checksummed,
)
from podium.orchestrator.results.storage.files import refuse_links
from podium.orchestrator.results.storage.locations import Place, RemotePath


@dataclass(config=ConfigDict(strict=True, extra="forbid"), frozen=True, kw_only=True)
class Store:
    """What ``store.json`` says: whose results these are, and which columns trials have.

    Attributes:
        ks: values of K, the primary one first.
        metrics: metrics that have columns; the first is the objective of searches.
        hyperparameters: name -> type, of all losses.
    """

    study: str
    schema_version: int = SCHEMA_VERSION
    ks: Annotated[tuple[PositiveInt, ...], Field(min_length=1)]
    metrics: Annotated[tuple[StoredMetric, ...], Field(min_length=1)]
    hyperparameters: Mapping[str, HyperparameterType]

    @cached_property
    def schema(self) -> pa.Schema:
        """The schema of every trial of the study."""
        return trial_schema(self.ks, self.hyperparameters, self.metrics)


_STORE = TypeAdapter(Store)
_Path = Annotated[str, Field(pattern=f"^{FILE_NAME}(/{FILE_NAME})*$")]  # leads nowhere else


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class _Choice(_Strict):
    kind: Literal["choice"]
    values: list[Any]


class _Range(_Strict):
    kind: Literal["int", "real"]
    low: float
    high: float
    log: bool
    step: float | None
    unit: str = ""


class _Space(_Strict):
    blocks: list[str]
    parameters: dict[str, _Choice | _Range]


class _Code(_Strict):
    fingerprint: _Path
    files: list[_Path]
    packages: dict[str, Any]


class _Provenance(BaseModel):
    numerics_version: StrictInt
    podium_version: str
    python_version: str
    torch_version: str
    spaces: dict[str, list[_Space]] = {}
    fairness: Fairness | None = None
    loss_kinds: dict[str, str] = {}
    code: dict[str, _Code] = {}
    data: dict[str, dict[str, str]] = {}


def write_snapshot_files(
    paths: StudyPaths, store: Store, *, study: Mapping[str, Any], provenance: Mapping[str, Any]
) -> None:
    """Write the snapshot of a study, or replace it by that of the same study extended.

    A kill at any moment leaves a folder that another call completes. The trials of ``store`` may
    only gain columns; tuples in the plain values of the study become lists.

    Raises:
        PodiumError: the folder belongs to another study.
    """
    check_readable(paths, store.study)
    metrics = [metric._asdict() for metric in store.metrics]
    write_checksummed(paths.store, {**asdict(store), "metrics": metrics})
    write_checksummed(paths.provenance, {**provenance, "study": store.study})
    write_checksummed(paths.study, study)


def check_readable(paths: StudyPaths, name: str) -> None:
    """Refuse a results folder of another study, or with links; one that has none yet is fine.

    Raises:
        PodiumError: naming both studies; or the folder is of another version of podium.
        CorruptFileError: the folder holds links.
    """
    store = _store(paths)
    if store is not None and store.study != name:
        raise PodiumError(
            f"{paths.folder} holds results of the study {store.study!r}, not of {name!r}; "
            "give the study a name or a storage folder of its own"
        )
    refuse_links(paths.folder, deep=True)


def read_store(paths: StudyPaths) -> Store:
    """What a results folder says of itself.

    Raises:
        PodiumError: it is not a results folder, or one of another version.
        CorruptFileError: store.json is damaged.
    """
    store = None
    if not (isinstance(paths.folder, Path) and paths.folder.is_file()):
        refuse_links(paths.folder, deep=False)
        store = _store(paths)
    if store is None:
        is_there = isinstance(paths.folder, RemotePath) or paths.folder.exists()
        why = f"it has no {paths.store.name}" if is_there else "nothing has run there yet"
        raise PodiumError(f"{paths.folder} is not a results folder of podium: {why}")
    return store


def _store(paths: StudyPaths) -> Store | None:
    values = read_checksummed(paths.store)
    if values is None:
        return None
    if values.get("schema_version") != SCHEMA_VERSION:
        raise PodiumError(
            f"{paths.folder} was written with version {values.get('schema_version')!r} of the "
            f"results schema; this podium reads version {SCHEMA_VERSION}. Read it with the podium "
            "that wrote it; give new results another study name or another storage"
        )
    return parsed(_STORE, json.dumps(values).encode(), str(paths.store), "store of trials")


def started_study(paths: StudyPaths) -> dict[str, Any]:
    """The resolved study.

    Raises:
        PodiumError: it is no results folder, or the study never started.
        CorruptFileError: study.json is damaged, or of another study.
    """
    return _of_study(read_store(paths), paths.study, read_study(paths), "name")


def own_provenance(paths: StudyPaths) -> dict[str, Any]:
    """Versions, hardware and hashes of the study's first start; raises as `started_study`."""
    return _of_study(read_store(paths), paths.provenance, read_provenance(paths), "study")


def _of_study(
    store: Store, file: Place, values: dict[str, Any] | None, key: str
) -> dict[str, Any]:
    """What a file holds, which must be there, and be of the study that store.json names."""
    if values is None:
        raise PodiumError(f"{file} is missing: the study never started, or lost it")
    if values.get(key) != store.study:
        raise CorruptFileError(
            f"{file} must be of the study {store.study!r}, as store.json is; it is of"
            f" {values.get(key)!r}. Restore the original file"
        )
    return values


def read_study(paths: StudyPaths) -> dict[str, Any] | None:
    """The resolved study; None if it never started, CorruptFileError if its file is damaged."""
    return read_checksummed(paths.study)


def read_provenance(paths: StudyPaths) -> dict[str, Any] | None:
    """Versions, hardware and hashes of the first start; None if the study never started.

    Raises:
        CorruptFileError: provenance.json is damaged, or lacks a part.
    """
    values = read_checksummed(paths.provenance)
    try:
        if values is not None:
            _Provenance.model_validate(values)
    except ValidationError as error:
        raise CorruptFileError(
            f"{paths.provenance} is damaged at {first_problem(error)}. Restore the original file"
        ) from None
    return values
