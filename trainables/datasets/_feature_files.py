"""The two files of a data set of feature vectors.

    ROOT/features.npy   float32 or float16, shape (N, F): a row for each image
    ROOT/labels.csv     a header, then a line for each row of features.npy:

    class,role,image
    001.Black_footed_Albatross,train,1/Black_Footed_Albatross_0046_18.jpg
    101.White_Pelican,test,101/White_Pelican_0002_96422.jpg

The column ``image`` may be left out; messages name images by it. N = images, F = features.
"""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from podium.trainables.errors import TrialInputError, plain_file, unknown_name
from podium.trainables.file_caches.feature_vectors import FeatureVectors

_FEATURES = "features.npy"
_LABELS = "labels.csv"
_REQUIRED = ("class", "role")
_COLUMNS = (*_REQUIRED, "image")
_ROLES = ("train", "test", "query", "gallery")
_TYPES = ("float32", "float16")
_TREE = f"""
    ROOT/{_FEATURES}   float32 or float16, a row for each image
    ROOT/{_LABELS}     {",".join(_COLUMNS)} (image may be left out), a line for each row"""


def read_feature_files(root: Path) -> tuple[FeatureVectors, list[tuple[str, str, str]]]:
    """The vectors, and class, role and image of each row; without images these are "".

    Of the vectors, which are memory-mapped, only shape and type are checked.

    Raises:
        TrialInputError: a file is missing or not of this form, their lengths differ, a class is
            both for training and for testing, or a side has fewer than two classes.
    """
    vectors = _read_vectors(root / _FEATURES)
    rows = list(_read_rows(root / _LABELS))
    if len(rows) != len(vectors):
        raise TrialInputError(
            f"{root}: {_LABELS} must have a line for each row of {_FEATURES}; got {len(rows)} "
            f"lines for {len(vectors)} rows"
        )
    _check_classes(root / _LABELS, rows)
    return vectors, rows


def _read_vectors(path: Path) -> FeatureVectors:
    plain_file(path)
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise _missing(path) from None
    except OSError as error:
        raise TrialInputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, EOFError) as error:
        raise TrialInputError(f"{path} must be an array saved by numpy.save: {error}") from error
    if not isinstance(values, np.ndarray):
        raise TrialInputError(f"{path} must hold one array, not an archive of several")
    if values.ndim != 2 or 0 in values.shape or str(values.dtype) not in _TYPES:
        raise TrialInputError(
            f"{path} must be of type {' or '.join(_TYPES)} and of shape (images, features); got "
            f"{values.dtype} of shape {values.shape}"
        )
    return FeatureVectors(values)


def _read_rows(path: Path) -> Iterator[tuple[str, str, str]]:
    try:
        with plain_file(path).open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file, strict=True)
            header = next(lines, [])
            _check_header(path, header)
            for cells in lines:
                place = f"{path}, line {lines.line_num}"
                if len(cells) != len(header):
                    raise TrialInputError(
                        f"{place} must have {len(header)} cells, as the header has; got "
                        f"{len(cells)}"
                    )
                yield _row(dict(zip(header, cells, strict=True)), place)
    except FileNotFoundError:
        raise _missing(path) from None
    except OSError as error:
        raise TrialInputError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise TrialInputError(f"{path} must be CSV in UTF-8: {error}") from error


def _check_header(path: Path, header: Sequence[str]) -> None:
    for name in header:
        if name not in _COLUMNS:
            raise unknown_name(f"column in {path}", name, _COLUMNS)
    if len(header) != len(set(header)) or not set(_REQUIRED) <= set(header):
        raise TrialInputError(
            f"{path}, line 1 must name the columns {' and '.join(_REQUIRED)}, each once; got "
            f"{','.join(header)!r}"
        )


def _row(cells: dict[str, str], place: str) -> tuple[str, str, str]:
    if not cells["class"]:
        raise TrialInputError(f"{place}: the class must not be empty")
    if cells["role"] not in _ROLES:
        raise TrialInputError(
            f"{place}: the role must be one of {', '.join(_ROLES)}; got {cells['role']!r}"
        )
    return cells["class"], cells["role"], cells.get("image", "")


def _check_classes(path: Path, rows: Sequence[tuple[str, str, str]]) -> None:
    roles = {role for _, role, _ in rows}
    if not (roles <= {"train", "test"} or roles <= {"train", "query", "gallery"}):
        raise TrialInputError(
            f"{path}: images for testing must all have the role test, or be of the roles query "
            f"and gallery; got the roles {', '.join(sorted(roles))}"
        )
    if len(roles & {"query", "gallery"}) == 1:
        raise TrialInputError(
            f"{path}: there must be images of both roles, query and gallery; got the roles "
            f"{', '.join(sorted(roles))}"
        )
    trained = {name for name, role, _ in rows if role == "train"}
    tested = {name for name, role, _ in rows if role != "train"}
    both = sorted(trained & tested)
    if both:
        raise TrialInputError(
            f"{path}: a class is for training or for testing; {len(both)} are in both, "
            f"such as {both[0]!r}"
        )
    for side, classes in (("training", trained), ("testing", tested)):
        if len(classes) < 2:
            raise TrialInputError(
                f"{path}: there must be 2 classes or more for {side}; got {len(classes)}"
            )


def _missing(path: Path) -> TrialInputError:
    return TrialInputError(f"there is no file {path}; a data set of features is{_TREE}")
