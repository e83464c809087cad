"""Embeddings of any origin in files: ``.npy`` or ``.safetensors``.

A ``.npy`` file holds floats of shape (N, D), and another one N whole numbers, the classes. A
``.safetensors`` file holds both, as ``embeddings`` and ``labels``, and perhaps ``gallery``: bool,
which images are searched and never ask.

N = rows, D = embedding dimension.
"""

from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from podium.trainables.errors import TrialInputError, plain_file
from podium.trainables.metrics.class_retrieval import ClassRetrieval

_SUFFIXES = (".npy", ".safetensors")


def read_rows(file: Path, labels_file: Path | None, *, strict: bool) -> ClassRetrieval:
    """The embeddings and classes in a file, ready to be scored.

    Args:
        file: ``.npy`` or ``.safetensors``.
        labels_file: file of the classes; None where a ``.safetensors`` file holds them too.
        strict: see `ClassRetrieval`.

    Raises:
        TrialInputError: a file cannot be read, the classes are missing, or shapes or types are
            not what they must be.
    """
    arrays = _arrays(file)
    embeddings_ND = arrays["embeddings"]
    is_table = embeddings_ND.ndim == 2 and 0 not in embeddings_ND.shape
    if not is_table or not embeddings_ND.is_floating_point():
        raise TrialInputError(
            "embeddings must be floats of shape (rows, dimensions), but those in "
            f"{file} are {_described(embeddings_ND)}"
        )
    if labels_file is not None:
        arrays["labels"] = _arrays(labels_file, "labels")["labels"]
    if "labels" not in arrays:
        raise TrialInputError(f"{file} holds no labels: name the .npy file that does, by --labels")
    labels_N = arrays["labels"]
    is_whole = not labels_N.is_floating_point() and labels_N.dtype != torch.bool
    if not is_whole or labels_N.shape != embeddings_ND.shape[:1]:
        raise TrialInputError(
            f"each of the {len(embeddings_ND):,} embeddings in {file} must have one whole number "
            f"as its label, but the labels in {labels_file or file} are {_described(labels_N)}"
        )
    return ClassRetrieval(
        embeddings_ND=embeddings_ND,
        labels_N=labels_N.long(),
        is_gallery_N=arrays.get("gallery"),
        strict=strict,
    )


def _arrays(file: Path, only: str = "embeddings") -> dict[str, Tensor]:
    """The arrays of a file by name; the one of a ``.npy`` file is called ``only``."""
    if file.suffix not in _SUFFIXES:
        raise TrialInputError(
            f"files of embeddings and labels must end in {' or '.join(_SUFFIXES)}; got {file}"
        )
    plain_file(file)
    try:
        if file.suffix == ".npy":
            array = np.load(file, allow_pickle=False)
            if not isinstance(array, np.ndarray) or array.dtype.kind not in "biufc":
                held = f"the type {array.dtype}" if isinstance(array, np.ndarray) else "an archive"
                raise TrialInputError(f"{file} holds {held}; {_rule(only)}")
            return {only: torch.from_numpy(array.astype(array.dtype.newbyteorder("=")))}
        arrays: dict[str, Tensor] = load(file.read_bytes())
    except OSError as error:
        raise TrialInputError(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, EOFError, TypeError, SafetensorError) as error:
        if "Object arrays" in str(error):  # its only sign: reading them would run code
            raise TrialInputError(f"{file} holds Python objects; {_rule(only)}") from error
        raise TrialInputError(f"{file} is damaged or no {file.suffix} file: {error}") from error
    if only not in arrays:
        raise TrialInputError(f"{file} must hold {only!r}; it holds {', '.join(sorted(arrays))}")
    return arrays


def _rule(only: str) -> str:
    return f"{only} must be {'floats' if only == 'embeddings' else 'whole numbers'}"


def _described(array: Tensor) -> str:
    return f"{str(array.dtype).removeprefix('torch.')} of shape {tuple(array.shape)}"
