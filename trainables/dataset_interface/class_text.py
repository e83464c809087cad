"""Vectors for the names of classes, in a CSV file that `podium datasets text` writes.

    class,1,2,3
    001.Black_footed_Albatross,0.25,-0.5,1.0
    002.Laysan_Albatross,0.125,0.75,-1.0

C = requested classes, T = length of a vector. No torch.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from podium.trainables.errors import TrialInputError, did_you_mean, first_of, plain_file

_FIRST_COLUMN = "class"
_NUM_SHOWN = 5

Vector = npt.NDArray[np.float32]


def read_class_text(path: str | Path, class_names: Sequence[str]) -> npt.NDArray[np.float32]:
    """One vector for each of ``class_names``, in their order: float32, shape (C, T).

    Other classes of the file are checked and left out.

    Args:
        path: a CSV file in UTF-8: a header ``class,1,...,T``, then a line for each class.
        class_names: names of classes, at least one.

    Raises:
        TrialInputError: the file cannot be read, is not of this form, holds a value that is no
            finite number, a vector of zeros or a class twice, or lacks a class.
    """
    vectors: dict[str, Vector] = {}
    for place, name, vector in _rows(Path(path)):
        if name in vectors:
            raise TrialInputError(f"{place}: every class must occur once; got {name!r} again")
        vectors[name] = vector
    missing = [name for name in class_names if name not in vectors]
    if missing:
        raise TrialInputError(
            f"class text {path} must have every class that is trained on; {len(missing)} of "
            f"{len(class_names)} are missing: {first_of([*map(repr, missing)])}"
            f"{did_you_mean(missing[0], vectors)}; the file has: "
            f"{first_of([*map(repr, vectors)]) or 'none'}"
        )
    return np.stack([vectors[name] for name in class_names])


def write_class_text(path: str | Path, vectors: Mapping[str, Vector]) -> None:
    """Write what `read_class_text` reads, every float32 bit for bit, sorted by name.

    Raises:
        TrialInputError: the file is there already, or cannot be written.
    """
    length = len(next(iter(vectors.values())))
    try:
        with Path(path).open("x", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([_FIRST_COLUMN, *range(1, length + 1)])
            for name in sorted(vectors):
                writer.writerow([name, *map(str, vectors[name].astype(np.float32))])
    except FileExistsError:
        raise TrialInputError(f"{path} exists already and is not overwritten") from None
    except OSError as error:
        raise TrialInputError(f"{path} cannot be written: {error.strerror}") from error


def _rows(path: Path) -> Iterator[tuple[str, str, Vector]]:
    """Place, class name and vector of each line."""
    try:
        with plain_file(path).open(encoding="utf-8", newline="") as file:
            lines = csv.reader(file, strict=True)
            header = next(lines, [])
            if len(header) < 2 or header[0] != _FIRST_COLUMN:
                raise TrialInputError(
                    f"class text {path}, line 1 must be {_FIRST_COLUMN},1,2,...; "
                    f"got {','.join(header[:_NUM_SHOWN])!r}"
                )
            for cells in lines:
                place = f"class text {path}, line {lines.line_num}"
                yield place, *_named_vector(cells, len(header) - 1, place)
    except OSError as error:
        raise TrialInputError(
            f"class text {path} cannot be read: {error.strerror}; podium datasets text writes one"
        ) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise TrialInputError(f"class text {path} must be CSV in UTF-8: {error}") from error


def _named_vector(cells: Sequence[str], length: int, place: str) -> tuple[str, Vector]:
    name, numbers = (cells[0], cells[1:]) if cells else ("", [])
    if len(numbers) != length:
        raise TrialInputError(
            f"{place}: class {name!r} must have as many numbers as the header, {length}; "
            f"got {len(numbers)}"
        )
    with np.errstate(over="ignore"):
        vector = np.array([_number(cell) for cell in numbers]).astype(np.float32)
    finite = np.isfinite(vector)
    if not finite.all():
        raise TrialInputError(
            f"{place}: every value of class {name!r} must be a finite float32; "
            f"got {numbers[int(finite.argmin())]!r}"
        )
    if not vector.any():
        raise TrialInputError(f"{place}: the vector of class {name!r} must not be all zeros")
    return name, vector


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return np.nan
