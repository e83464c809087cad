"""Distances between the labels of images: of their poses, captions or masks.

N = images, R and C = rows and columns of a block, V = length of a label vector, P = pixels.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from podium.trainables.errors import TrialInputError, plain_file

Indices = npt.NDArray[np.int64]
Distances = npt.NDArray[np.float64]

# The distance of two label vectors.
LabelMetric = Literal["euclidean", "squared_euclidean", "cosine"]

# All of them; the first is used where none is named.
LABEL_METRICS: tuple[LabelMetric, ...] = get_args(LabelMetric)

_CHUNK_ROWS = 1024

# A matrix that was computed in float32 may differ so much from its transpose, relative to its
# largest distance.
_ASYMMETRY = 1e-5

# Ink of at least half the full strength belongs to the mask.
_MASK_LEVEL = 128


class LabelDistances(ABC):
    """Distances between the labels of N images: symmetric, at least 0, and 0 to itself."""

    @abstractmethod
    def __len__(self) -> int:
        """N."""

    @abstractmethod
    def between(self, rows_R: Indices, columns_C: Indices) -> Distances:
        """The distances of some images to others, by their indices: shape (R, C)."""

    @abstractmethod
    def fingerprint(self, indices: Indices) -> str:
        """Hash of everything but the pixels that decides the distances among these images."""

    def among(self, indices: Indices) -> "LabelDistances":
        """The distances among some of the images, renumbered from 0."""
        return _Part(self, indices)


class _Part(LabelDistances):
    def __init__(self, whole: LabelDistances, indices: Indices) -> None:
        self._whole, self._indices = whole, np.asarray(indices)

    def __len__(self) -> int:
        return len(self._indices)

    def between(self, rows_R: Indices, columns_C: Indices) -> Distances:
        return self._whole.between(self._indices[rows_R], self._indices[columns_C])

    def fingerprint(self, indices: Indices) -> str:
        return self._whole.fingerprint(self._indices[indices])


class MatrixDistances(LabelDistances):
    """Distances that were computed before: a matrix of shape (N, N), any float type.

    Raises:
        TrialInputError: a distance is not finite or negative, the matrix is not symmetric, or an
            image is away from itself. The first such pair is named.
    """

    def __init__(self, matrix_NN: npt.NDArray[np.floating]) -> None:
        self._matrix_NN = matrix_NN
        for rows in _chunks(len(matrix_NN)):
            block_RN = np.asarray(matrix_NN[rows])
            _refuse(~np.isfinite(block_RN), rows, block_RN, "must be finite")
            _refuse(block_RN < 0.0, rows, block_RN, "must be at least 0")
        largest = max(float(np.max(matrix_NN[rows])) for rows in _chunks(len(matrix_NN)))
        for rows in _chunks(len(matrix_NN)):
            block_RN = np.asarray(matrix_NN[rows])
            gap_RN = np.abs(block_RN - matrix_NN[:, rows].T)
            _refuse(
                gap_RN > _ASYMMETRY * largest,
                rows,
                block_RN,
                "must be the same in both directions",
            )
            own = np.arange(rows.start, rows.stop)[:, None] == np.arange(len(matrix_NN))
            away_RN = own & (block_RN > _ASYMMETRY * largest)
            _refuse(away_RN, rows, block_RN, "must be 0 from an image to itself")

    def __len__(self) -> int:
        return len(self._matrix_NN)

    def between(self, rows_R: Indices, columns_C: Indices) -> Distances:
        """See `LabelDistances.between`."""
        found_RC = self._matrix_NN[np.ix_(rows_R, columns_C)].astype(np.float64)
        return _without_own(found_RC, rows_R, columns_C)

    def fingerprint(self, indices: Indices) -> str:
        """See `LabelDistances.fingerprint`."""
        hashed = hashlib.sha256(b"matrix")
        for rows in _chunks(len(indices)):
            block_RC = self._matrix_NN[np.ix_(indices[rows], indices)]
            hashed.update(np.ascontiguousarray(block_RC).data)
        return hashed.hexdigest()


class VectorDistances(LabelDistances):
    """Distances between vectors: shape (N, V), or (N,) for labels that are numbers.

    Vectors nearer than about 1e-8 of their distance from the mean of all count as equal.

    Args:
        vectors_NV: the vectors, in any unit.
        metric: Euclidean distances, in the unit of the vectors, or their squares. Ranks are the
            same, ratios and gains of nDCG are not. Kim et al. 2019 define the log-ratio loss by
            squares; their code squares neither distance. Or 1 - cosine, from 0 to 2, whatever
            the lengths: of texts such as captions, whose vectors have a direction alone.

    Raises:
        TrialInputError: a number is not finite, or of ``cosine`` a vector is 0.
    """

    def __init__(
        self, vectors_NV: npt.NDArray[np.generic], metric: LabelMetric = "euclidean"
    ) -> None:
        self._metric = metric
        vectors_NV = np.asarray(vectors_NV, dtype=np.float64).reshape(len(vectors_NV), -1)
        for rows in _chunks(len(vectors_NV)):
            block_RV = vectors_NV[rows]
            _refuse(~np.isfinite(block_RV), rows, block_RV, "must be finite", "label vectors")
            if metric == "cosine":
                is_zero_R1 = (block_RV == 0.0).all(axis=1)[:, None]
                rule = "must have a direction where label_metric is cosine"
                _refuse(is_zero_R1, rows, block_RV, rule, "label vectors")
        if metric == "cosine":
            vectors_NV = vectors_NV / np.linalg.norm(vectors_NV, axis=1, keepdims=True)
        self._vectors_NV = vectors_NV
        self._mean_V = vectors_NV.mean(axis=0)
        self._squares_N = np.square(vectors_NV - self._mean_V).sum(axis=1)

    def __len__(self) -> int:
        return len(self._vectors_NV)

    def between(self, rows_R: Indices, columns_C: Indices) -> Distances:
        """See `LabelDistances.between`."""
        # Centred, so that a common offset does not eat the digits of the differences.
        centred_RV = self._vectors_NV[rows_R] - self._mean_V
        centred_CV = self._vectors_NV[columns_C] - self._mean_V
        squares_RC = self._squares_N[rows_R][:, None] + self._squares_N[columns_C]
        found_RC = squares_RC - 2.0 * centred_RV @ centred_CV.T
        # What is left of equal vectors is rounding, whose root would be no small distance.
        rounding = self._vectors_NV.shape[1] * np.finfo(np.float64).eps
        found_RC = np.where(found_RC > rounding * squares_RC, found_RC, 0.0)
        if self._metric == "euclidean":
            found_RC = np.sqrt(found_RC)
        elif self._metric == "cosine":
            found_RC = 0.5 * found_RC  # of vectors of length 1
        return _without_own(found_RC, rows_R, columns_C)

    def fingerprint(self, indices: Indices) -> str:
        """See `LabelDistances.fingerprint`."""
        vectors = np.ascontiguousarray(self._vectors_NV[indices])
        # Without the name of the first metric, which was the only one once.
        kind = b"" if self._metric == LABEL_METRICS[0] else self._metric.encode()
        return hashlib.sha256(kind + b"vectors" + vectors.tobytes()).hexdigest()


class MaskDistances(LabelDistances):
    """1 - IoU of the images' ink: 0 for equal masks, 1 for masks that do not overlap.

    Two images without any ink have equal masks.

    Args:
        images_NHW: uint8, ink 255 on ground 0.
    """

    def __init__(self, images_NHW: npt.NDArray[np.uint8]) -> None:
        masks_NP = images_NHW.reshape(len(images_NHW), -1) >= _MASK_LEVEL
        self._masks_NP = masks_NP.astype(np.float32)  # counts up to 2^24 are exact
        self._areas_N = masks_NP.sum(axis=1).astype(np.float64)

    def __len__(self) -> int:
        return len(self._masks_NP)

    def between(self, rows_R: Indices, columns_C: Indices) -> Distances:
        """See `LabelDistances.between`."""
        common_RC = (self._masks_NP[rows_R] @ self._masks_NP[columns_C].T).astype(np.float64)
        union_RC = self._areas_N[rows_R][:, None] + self._areas_N[columns_C] - common_RC
        found_RC: Distances = (union_RC - common_RC) / np.maximum(union_RC, 1.0)
        return found_RC

    def fingerprint(self, indices: Indices) -> str:
        """See `LabelDistances.fingerprint`: pixels decide alone."""
        return f"1 - IoU of pixels >= {_MASK_LEVEL}"


def read_label_distances(
    path: Path, num_images: int, metric: LabelMetric | None = None
) -> LabelDistances:
    """The distances in a ``.npy`` file whose row i belongs to image i of a data set.

    A square array of shape (N, N) holds the distances themselves; one of shape (N, V) or (N,)
    holds vectors or numbers.

    Args:
        path: the file.
        num_images: N.
        metric: distance of two vectors; None: Euclidean, or the array holds distances.

    Raises:
        TrialInputError: there is no such file, it does not hold distances of these images, or a
            metric is given for what are distances already.
    """
    array = _open(path, num_images, metric)
    try:
        if _is_matrix(array):
            return MatrixDistances(array)
        return VectorDistances(array, metric or LABEL_METRICS[0])
    except TrialInputError as error:
        raise TrialInputError(f"label_distances: {path}: {error}") from error


def check_label_distance_file(
    path: Path, num_images: int, metric: LabelMetric | None = None
) -> None:
    """The checks of `read_label_distances` that need no more than the file's header.

    Raises:
        TrialInputError: there is no such file, its shape or type is wrong, or a metric is given
            for what are distances already.
    """
    _open(path, num_images, metric)


def _open(path: Path, num_images: int, metric: LabelMetric | None) -> npt.NDArray[np.floating]:
    plain_file(path)
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise TrialInputError(f"label_distances must be a .npy file; {path}: {error}") from error
    if not isinstance(array, np.ndarray):
        raise TrialInputError(f"label_distances must be a .npy file of one array; got {path}")
    if not np.issubdtype(array.dtype, np.integer) and not np.issubdtype(array.dtype, np.floating):
        raise TrialInputError(f"label_distances: {path} must hold numbers; got {array.dtype}")
    if array.ndim not in (1, 2) or len(array) != num_images or 0 in array.shape:
        raise TrialInputError(
            f"label_distances: {path} must have one row for each of the {num_images} images, in "
            f"their order, of distances ({num_images}, {num_images}) or label vectors "
            f"({num_images}, V); got shape {array.shape}"
        )
    if metric is not None and _is_matrix(array):
        raise TrialInputError(
            f"label_metric is the distance of label vectors, but {path} holds distances already: "
            f"leave it out; got {metric!r}"
        )
    return array


def _is_matrix(array: npt.NDArray[np.floating]) -> bool:
    return array.ndim == 2 and array.shape[0] == array.shape[1]


def _chunks(num_rows: int) -> Iterator[slice]:
    for start in range(0, num_rows, _CHUNK_ROWS):
        yield slice(start, min(start + _CHUNK_ROWS, num_rows))


def _refuse(
    is_bad_RC: npt.NDArray[np.bool_],
    rows: slice,
    block_RC: npt.NDArray[np.floating],
    rule: str,
    what: str = "distances",
) -> None:
    if is_bad_RC.any():
        row, column = np.argwhere(is_bad_RC)[0].tolist()
        raise TrialInputError(
            f"{what} {rule}; got {block_RC[row, column]:g} in row {rows.start + row}, "
            f"column {column}"
        )


def _without_own(found_RC: Distances, rows_R: Indices, columns_C: Indices) -> Distances:
    """No rounding of an image's distance to itself."""
    found_RC[rows_R[:, None] == columns_C] = 0.0
    return found_RC
