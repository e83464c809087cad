"""Test embeddings that a trial left, read without torch. N = images, D = embedding dimension.

The files are written by ``trainables.saved_models.embeddings_file``: safetensors, whose header has
a text ``podium`` with kind, facts and the hash of all of it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.results.storage.files import read_bytes
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

_KIND = "embeddings"
_PREFIX_BYTES = 8  # of safetensors: the length of its header


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEmbeddings:
    """The test images of one fold, in the order of the data set.

    Attributes:
        class_names: all classes of the data set, sorted; labels are indices into it.
        by_direction: whether only the directions of embeddings mean something.
        test_hash: hash of the test classes and their images; equal exactly for equal tests.
        scores: (metric, K) -> score that the trial reported; K is None for metrics without one.
        embeddings_ND: embeddings, not normalised.
        labels_N: class of each image.
        indices_N: position of each image in the data set.
        is_gallery_N: whether an image is searched and is no query; None where every image is a
            query against all others.
    """

    class_names: tuple[str, ...]
    by_direction: bool
    test_hash: str
    scores: Mapping[tuple[str, int | None], float]
    embeddings_ND: NDArray[np.float32]
    labels_N: NDArray[np.int64]
    indices_N: NDArray[np.int64]
    is_gallery_N: NDArray[np.bool_] | None


def read_stored_embeddings(file: Place) -> StoredEmbeddings:
    """What a file holds, with every byte of it checked.

    Raises:
        CorruptFileError: the file is missing, damaged, or no embeddings of podium.
        StoreError: it cannot be read.
    """
    content = read_bytes(file)
    if content is None:
        raise CorruptFileError(f"{file} is missing")
    facts, arrays = _decoded(content, file, _KIND)
    try:
        return StoredEmbeddings(
            class_names=tuple(facts["class_names"]),
            by_direction=facts["by_direction"],
            test_hash=facts["dataset"]["test_hash"],
            scores={
                (score["metric"], score["k"]): score["value"]
                for score in facts["scores"]
                if score["value"] is not None
            },
            embeddings_ND=arrays["embeddings"],
            labels_N=arrays["labels"],
            indices_N=arrays["indices"],
            is_gallery_N=arrays.get("gallery"),
        )
    except KeyError as error:
        raise CorruptFileError(
            f"{file} was written by a version of podium that this one does not read: it has no"
            f" {error}"
        ) from error


def check_kept_file(file: Place, kind: str) -> Mapping[str, Any]:
    """The facts in a file that a trial left, with every byte of it checked.

    Args:
        file: file of weights or of embeddings.
        kind: what the file must hold: ``model`` or ``embeddings``.

    Raises:
        CorruptFileError: the file is missing, damaged, or holds something else.
        StoreError: it cannot be read.
    """
    content = read_bytes(file)
    if content is None:
        raise CorruptFileError(f"{file} is missing")
    return _decoded(content, file, kind)[0]


def _decoded(
    content: bytes, file: Place, kind: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays = load(content)
        end = _PREFIX_BYTES + int.from_bytes(content[:_PREFIX_BYTES], "little")
        header = json.loads(json.loads(content[_PREFIX_BYTES:end])["__metadata__"]["podium"])
        written = header.pop("sha256")
        found = _hash(header, arrays)
    except (
        *(SafetensorError, ValueError, KeyError, TypeError, AttributeError),
        RecursionError,  # of a header that is nested too deeply
    ) as error:
        raise CorruptFileError(
            f"{file} is not a file of podium, or is damaged: {error}"
        ) from error
    if found != written:
        raise CorruptFileError(f"{file} is damaged: its content does not match its SHA-256")
    if header["kind"] != kind:
        raise CorruptFileError(f"{file} must hold {kind}; it holds {header['kind']!r} instead")
    return header["facts"], arrays


def _hash(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """As ``trainables.tensor_file`` writes it; types have the names they have in torch."""
    text = json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False)
    state = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        state.update(f"{name} torch.{array.dtype} {list(array.shape)}\n".encode())
        state.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return hashlib.sha256((text + state.hexdigest()).encode()).hexdigest()
