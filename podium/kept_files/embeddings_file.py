"""The embeddings of the test images as one safetensors file, for metrics thought of later.

N = images, D = embedding dimension.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from podium.errors import CorruptFileError
from podium.kept_files.tensor_file import TensorFile, decode_tensors, encode_tensors, read_tensors

Geometry = Literal["cosine", "euclidean", "poincare"]

_KIND = "embeddings"
_ARRAYS = {
    "embeddings_ND": "embeddings",
    "labels_N": "labels",
    "indices_N": "indices",
    "is_gallery_N": "gallery",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingsFile:
    """The test images of one fold, in the order of the data set.

    Attributes:
        fold: split of the protocol.
        epoch: the selected one; 0 for a network that was not trained.
        task: task by which the images are retrieved (`trainables.tasks`).
        dataset: name, fingerprint and test hash of the data set.
        class_names: names of all classes of the data set, sorted; labels are indices into it.
        image_names: paths below the data set's folder; None where images are no files.
        geometry: by which distance the images were retrieved: with ``cosine`` only directions of
            embeddings mean something, with the others their places do.
        scores: as the trial reported them: metric, k (None for metrics without) and value.
        origin: who made it: versions, study, trial.
        embeddings_ND: embeddings of any length; ``embeddings`` in the file, and so on.
        labels_N: class of each image.
        indices_N: position of each image in the data set.
        is_gallery_N: whether an image is searched and is no query; None where every image is a
            query against all others.
    """

    fold: int
    epoch: int
    task: str
    dataset: Mapping[str, str]
    class_names: tuple[str, ...]
    image_names: tuple[str, ...] | None
    geometry: Geometry
    scores: tuple[Mapping[str, Any], ...]
    origin: Mapping[str, str | int]
    embeddings_ND: npt.NDArray[np.float32]
    labels_N: npt.NDArray[np.int64]
    indices_N: npt.NDArray[np.int64]
    is_gallery_N: npt.NDArray[np.bool_] | None

    def to_bytes(self) -> bytes:
        """The file; equal embeddings give equal bytes."""
        facts = {field.name: getattr(self, field.name) for field in fields(self)}
        facts |= geometry_facts(facts.pop("geometry"))
        arrays = {name: facts.pop(field) for field, name in _ARRAYS.items()}
        return encode_tensors(
            _KIND, facts, {name: array for name, array in arrays.items() if array is not None}
        )


def geometry_facts(geometry: Geometry) -> dict[str, Any]:
    """What files say of a geometry; only a curved one has a name there."""
    named = {"geometry": geometry} if geometry == "poincare" else {}
    return {"by_direction": geometry == "cosine", **named}


def geometry_in(facts: Mapping[str, Any]) -> Geometry:
    """The geometry that `geometry_facts` wrote down.

    Raises:
        KeyError: the file does not say it.
    """
    found: Geometry = facts.get("geometry", "cosine" if facts["by_direction"] else "euclidean")
    return found


def decode_embeddings(content: bytes, name: str) -> EmbeddingsFile:
    """What `EmbeddingsFile.to_bytes` wrote, with every byte of it checked.

    Args:
        content: bytes of the file.
        name: name of the file, for messages.

    Raises:
        CorruptFileError: the bytes are damaged, hold something else, or lack a fact.
    """
    return _of_file(decode_tensors(content, _KIND, name), name)


def read_embeddings(file: str | Path) -> EmbeddingsFile:
    """As `decode_embeddings`, of a file.

    Raises:
        PodiumError: the file cannot be read.
        CorruptFileError: see `decode_embeddings`.
    """
    return _of_file(read_tensors(Path(file), _KIND), str(file))


def _of_file(file: TensorFile, name: str) -> EmbeddingsFile:
    facts, arrays = file
    names = [field.name for field in fields(EmbeddingsFile) if field.name not in _ARRAYS]
    try:
        facts = {**facts, "geometry": geometry_in(facts)}
        values = {name: facts[name] for name in names}
        values |= {
            field: arrays.get(key) if key == "gallery" else arrays[key]
            for field, key in _ARRAYS.items()
        }
    except KeyError as error:
        raise CorruptFileError(
            f"{name} was written by a version of podium that this one does not read: it has no "
            f"{error}"
        ) from error
    for field in ("class_names", "image_names", "scores"):
        values[field] = None if values[field] is None else tuple(values[field])
    return EmbeddingsFile(**values)
