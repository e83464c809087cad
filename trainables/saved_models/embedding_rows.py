"""Embeddings of any origin in files that are read in parts: ``.npy`` or ``.safetensors``.

A ``.npy`` file holds floats of shape (N, D), and another one N whole numbers, the classes. A
``.safetensors`` file holds both, as ``embeddings`` and ``labels``.

N = rows, R = rows that are read, D = embedding dimension.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from trainables.errors import TrialInputError

SUFFIXES = (".npy", ".safetensors")

# Names of types as numpy writes them and as safetensors does.
_FLOATS = {"float16", "float32", "float64", "F16", "F32", "F64", "BF16"}
_WHOLE = {f"{kind}{bits}" for kind in ("int", "uint", "I", "U") for bits in (8, 16, 32, 64)}


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingRows:
    """A range of the rows of a file; nothing is read before `read` is called.

    Attributes:
        file: ``.npy`` or ``.safetensors``.
        labels_file: ``.npy``; None where the classes are in ``file``.
        start: first row of the range.
        stop: row behind the last.
        dim: embedding dimension.
    """

    file: Path
    labels_file: Path | None
    start: int
    stop: int
    dim: int

    def __len__(self) -> int:
        return self.stop - self.start

    def parts(self, num_rows: int) -> "Iterator[EmbeddingRows]":
        """The rows in ranges of ``num_rows``, the last one shorter."""
        for start in range(self.start, self.stop, num_rows):
            yield EmbeddingRows(
                file=self.file,
                labels_file=self.labels_file,
                start=start,
                stop=min(start + num_rows, self.stop),
                dim=self.dim,
            )

    def labels(self) -> Tensor:
        """The classes alone: int64, (R,), on the CPU.

        Raises:
            TrialInputError: they cannot be read.
        """
        rows = slice(self.start, self.stop)
        return _Array(self.labels_file or self.file, "labels").read(rows).long()

    def read(self) -> tuple[Tensor, Tensor]:
        """Embeddings as they are stored, (R, D), and int64 classes, (R,); on the CPU.

        Raises:
            TrialInputError: the files have changed or cannot be read, or a row is not finite.
        """
        embeddings_RD = _Array(self.file, "embeddings").read(slice(self.start, self.stop))
        labels_R = self.labels()
        if embeddings_RD.shape != (len(self), self.dim) or len(labels_R) != len(self):
            raise TrialInputError(f"{self.file} has changed since it was opened")
        is_finite_R = embeddings_RD.amax(dim=1).isfinite() & embeddings_RD.amin(dim=1).isfinite()
        bad_R = (~is_finite_R).nonzero().squeeze(1)
        if len(bad_R):
            raise TrialInputError(
                f"embeddings must be finite, but row {self.start + int(bad_R[0])} of {self.file} "
                "holds NaN or infinity (the first row is 0)"
            )
        return embeddings_RD, labels_R


def open_rows(file: Path, labels_file: Path | None = None) -> EmbeddingRows:
    """All rows of a file, whose shapes and types are checked.

    Args:
        file: ``.npy`` or ``.safetensors``.
        labels_file: ``.npy``; None where a ``.safetensors`` file holds the classes too.

    Raises:
        TrialInputError: a file cannot be read, the classes are missing, or shapes or types are
            not what they must be.
    """
    embeddings = _Array(file, "embeddings")
    if "gallery" in embeddings.names:
        raise TrialInputError(
            f"{file} says itself which of its images are a gallery: evaluate the trial it is of, "
            "or write queries and gallery to a file each"
        )
    if len(embeddings.shape) != 2 or 0 in embeddings.shape or embeddings.dtype not in _FLOATS:
        raise TrialInputError(
            "embeddings must be floats of shape (rows, dimensions), but those in "
            f"{file} are {embeddings}"
        )
    if labels_file is None and file.suffix == ".npy":
        raise TrialInputError(
            f"{file} holds no labels: name the .npy file that does, by --labels or "
            "--gallery-labels"
        )
    labels = _Array(labels_file or file, "labels")
    if labels.dtype not in _WHOLE or labels.shape != embeddings.shape[:1]:
        raise TrialInputError(
            f"each of the {embeddings.shape[0]:,} embeddings in {file} must have one whole number "
            f"as its label, but the labels in {labels_file or file} are {labels}"
        )
    num_rows, dim = embeddings.shape
    return EmbeddingRows(
        file=file.absolute(),  # workers may read it elsewhere
        labels_file=None if labels_file is None else labels_file.absolute(),
        start=0,
        stop=num_rows,
        dim=dim,
    )


class _Array:
    """An array in a file, of which rows are read.

    Args:
        file: ``.npy`` or ``.safetensors``.
        name: its name within a ``.safetensors`` file.

    Attributes:
        shape: the shape.
        dtype: name of the type.
        names: names of all arrays of a ``.safetensors`` file.

    Raises:
        TrialInputError: the file cannot be read, is of another kind, or lacks the array.
    """

    def __init__(self, file: Path, name: str) -> None:
        if file.suffix not in SUFFIXES:
            raise TrialInputError(
                f"files of embeddings and labels must end in {' or '.join(SUFFIXES)}; got {file}"
            )
        self._array: Any
        self.names: list[str] = []
        try:
            if file.suffix == ".npy":
                self._array = np.load(file, mmap_mode="r", allow_pickle=False)
                self.shape, self.dtype = self._array.shape, str(self._array.dtype.name)
            else:
                opened: Any = safe_open(file, framework="pt")
                self.names = sorted(opened.keys())
                if name not in self.names:
                    raise TrialInputError(
                        f"{file} must hold {name!r}; it holds {', '.join(self.names)}"
                    )
                self._array = opened.get_slice(name)
                self.shape, self.dtype = tuple(self._array.get_shape()), self._array.get_dtype()
        except OSError as error:
            raise TrialInputError(
                f"{file} cannot be read: {error.strerror or 'no such file'}"
            ) from error
        except (ValueError, EOFError, SafetensorError) as error:
            raise TrialInputError(
                f"{file} is damaged or no {file.suffix} file: {error}"
            ) from error

    def __str__(self) -> str:
        return f"{self.dtype} of shape {self.shape}"

    def read(self, rows: slice) -> Tensor:
        """Rows in memory of their own, read in the order of the file."""
        found = self._array[rows]
        if isinstance(found, np.ndarray):
            return torch.from_numpy(np.array(found, dtype=found.dtype.newbyteorder("=")))
        assert isinstance(found, Tensor)
        return found
