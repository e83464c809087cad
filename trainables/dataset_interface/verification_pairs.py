"""Pairs of images to be verified: are both of one class? Read from a file, in folds.

A file that ends in ``.csv`` has the columns ``image_a``, ``image_b``, ``same`` and, if it likes,
``fold``. Any other has the lines of LFW's ``pairs.txt`` (Huang et al. 2007).

P = pairs.
"""

import csv
import hashlib
import io
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from podium.trainables.errors import TrialInputError, plain_file

NUM_FOLDS = 10
"""Folds of pairs whose file names none."""

_COLUMNS = ("image_a", "image_b", "same")
_FOLD = "fold"
_SAME = {"1": True, "true": True, "0": False, "false": False}

_Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationPairs:
    """Pairs of images by their indices, with at least two folds; each has pairs of both kinds.

    Attributes:
        first_P: one image of each pair.
        second_P: the other.
        is_same_P: bool, whether both are of one class.
        folds_P: fold of each pair, from 0 without gaps.
    """

    first_P: _Indices
    second_P: _Indices
    is_same_P: npt.NDArray[np.bool_]
    folds_P: _Indices

    def among(self, indices_N: _Indices) -> "VerificationPairs":
        """The same pairs among some of the images, ascending, which hold all of the pairs."""
        return replace(
            self,
            first_P=np.searchsorted(indices_N, self.first_P),
            second_P=np.searchsorted(indices_N, self.second_P),
        )

    @property
    def fingerprint(self) -> str:
        """Hash of everything that can change a number."""
        hashed = hashlib.sha256()
        for array in (self.first_P, self.second_P, self.is_same_P, self.folds_P):
            hashed.update(np.ascontiguousarray(array).data)
        return hashed.hexdigest()


class _Pair(NamedTuple):
    """One line of a file; images are paths as their ends are, ``fold`` is "" if it names none."""

    line: int
    first: str
    second: str
    is_same: bool
    fold: str


def check_pairs_file(path: Path) -> None:
    """Raise TrialInputError if the file is missing or wrong; images are not looked up."""
    _folds(path, _pairs(path))


def read_pairs(
    path: Path,
    images: Sequence[Path],
    labels_N: _Indices,
    test_classes: Sequence[int],
    class_names: Sequence[str],
) -> VerificationPairs:
    """The pairs of a file.

    An image is named by the end of its path: ``Name/a.jpg`` is the one file whose path ends so,
    such as ``ROOT/test/Name/a.jpg``. ``Name 7`` of LFW's format is ``Name/Name_0007`` with any
    suffix.

    Args:
        path: the file.
        images: paths of all N images of the data set.
        labels_N: class id of each image.
        test_classes: class ids of the images that may be in pairs.
        class_names: name of each class id, for messages.

    Raises:
        TrialInputError: says file and line: the file is missing or a line is wrong; an image is
            not there, not the only one of this name, or not for testing; or the data set does not
            say of a pair what the file says.
    """
    pairs = _pairs(path)
    folds_P = _folds(path, pairs)
    found = _images_named({name for pair in pairs for name in pair[1:3]}, images)
    indices_P2 = np.empty((len(pairs), 2), dtype=np.int64)
    for place, pair in enumerate(pairs):
        classes = []
        for column, name in enumerate((pair.first, pair.second)):
            indices = found[name]
            if not indices:
                _refuse(path, pair.line, f"the data set has no image {name}")
            if len(indices) > 1:
                some = " and ".join(str(images[index]) for index in indices[:2])
                _refuse(path, pair.line, f"{name} must be one image; it may be {some}")
            indices_P2[place, column] = indices[0]
            label = int(labels_N[indices[0]])
            classes.append(class_names[label])
            if label not in test_classes:
                rule = f"images of pairs must be of test classes; {name} is of the training class"
                _refuse(path, pair.line, f"{rule} {classes[-1]}")
        if indices_P2[place, 0] == indices_P2[place, 1]:
            _refuse(path, pair.line, f"a pair must be of two images; both are {pair.first}")
        if (classes[0] == classes[1]) != pair.is_same:
            called = "one class" if pair.is_same else "two"
            _refuse(
                path,
                pair.line,
                f"{pair.first} and {pair.second} are called {called}, but the data set has them "
                f"in {classes[0]} and {classes[1]}",
            )
    return VerificationPairs(
        first_P=indices_P2[:, 0].copy(),
        second_P=indices_P2[:, 1].copy(),
        is_same_P=np.array([pair.is_same for pair in pairs]),
        folds_P=folds_P,
    )


def _images_named(names: Collection[str], images: Sequence[Path]) -> dict[str, list[int]]:
    """The images whose paths end in each name; a name without a suffix has any."""
    tails = {name: "/".join(PurePosixPath(name).parts) for name in names}
    found: dict[str, list[int]] = {tail: [] for tail in tails.values()}
    for index, image in enumerate(images):
        for path in {image, image.with_suffix("")}:
            for start in range(len(path.parts)):
                tail = "/".join(path.parts[start:])
                if tail in found:
                    found[tail].append(index)
    return {name: found[tail] for name, tail in tails.items()}


def _pairs(path: Path) -> list[_Pair]:
    try:
        text = plain_file(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise TrialInputError(f"the file of pairs {path} cannot be read: {reason}") from error
    found = _of_csv(path, text) if path.suffix.lower() == ".csv" else _of_lfw(path, text)
    return list(found)


def _of_csv(path: Path, text: str) -> Iterator[_Pair]:
    reader = csv.DictReader(io.StringIO(text), strict=True)
    names = [name.strip() for name in reader.fieldnames or ()]
    if sorted(names) not in (sorted(_COLUMNS), sorted((*_COLUMNS, _FOLD))):
        rule = f"the columns must be {', '.join(_COLUMNS)} and, if it is wanted, {_FOLD}"
        _refuse(path, 1, f"{rule}; got {', '.join(names) or 'none'}")
    reader.fieldnames = names
    try:
        for row in reader:
            yield _csv_pair(path, reader.line_num, row)
    except csv.Error as error:
        _refuse(path, reader.line_num, f"it is not CSV: {error}")


def _csv_pair(path: Path, line: int, row: dict[str, str | None]) -> _Pair:
    values = {name: (value or "").strip() for name, value in row.items() if name is not None}
    if None in row or not all(values.values()):
        _refuse(path, line, f"there must be one value for each of {', '.join(values)}")
    same = _SAME.get(values["same"].lower())
    if same is None:
        _refuse(path, line, f"same must be 1, 0, true or false; got {values['same']!r}")
    return _Pair(line, values["image_a"], values["image_b"], same, values.get(_FOLD, ""))


def _of_lfw(path: Path, text: str) -> Iterator[_Pair]:
    """``10 300``: ten folds, each of 300 pairs of one person and then 300 of two.

    With a single number there is one such part, as in LFW's ``pairsDevTest.txt``, and no folds.
    """
    lines = text.splitlines()
    header = lines[0].split() if lines else []
    if len(header) not in (1, 2) or not all(word.isdecimal() and int(word) for word in header):
        rule = "the first line must be the number of folds and of pairs of a kind, such as 10 300"
        _refuse(path, 1, f"{rule} (in a file that ends in .csv, the columns); got {lines[:1]}")
    num_folds, num_pairs = (1, *map(int, header))[-2:]
    expected = 2 * num_folds * num_pairs
    given = [(number, line) for number, line in enumerate(lines[1:], 2) if line.strip()]
    if len(given) != expected:
        rule = f"{' '.join(header)} in the first line means {expected} pairs"
        _refuse(path, given[-1][0] if given else 1, f"{rule}; got {len(given)}")
    for order, (number, line) in enumerate(given):
        fold, place = divmod(order, 2 * num_pairs)
        is_same = place < num_pairs
        words = line.strip().split("\t") if "\t" in line else line.split()
        images = (words[:2], words[::2]) if is_same else (words[:2], words[2:])
        numbers = [image[1] for image in images if len(image) == 2]
        if len(words) != (3 if is_same else 4) or not all(map(str.isdecimal, numbers)):
            rule = "NAME NUMBER NUMBER" if is_same else "NAME NUMBER NAME NUMBER"
            kind = "of one class" if is_same else "of two classes"
            _refuse(path, number, f"a pair {kind} must be {rule} here; got {line.strip()!r}")
        first, second = (f"{name}/{name}_{int(index):04d}" for name, index in images)
        yield _Pair(number, first, second, is_same, str(fold) if len(header) == 2 else "")


def _folds(path: Path, pairs: Sequence[_Pair]) -> _Indices:
    """Fold of each pair, from 0; those of a file without folds are dealt in turn, kind by kind."""
    is_same_P = np.array([pair.is_same for pair in pairs], dtype=bool)
    kinds = {"one class": is_same_P, "two classes": ~is_same_P}
    counts = {kind: int(is_kind_P.sum()) for kind, is_kind_P in kinds.items()}
    if min(counts.values()) < 2:
        got = " and ".join(f"{count} of {kind}" for kind, count in counts.items())
        raise TrialInputError(f"{path}: there must be at least 2 pairs of each kind; got {got}")
    if not pairs[0].fold:
        num_folds = min(NUM_FOLDS, *counts.values())
        folds_P = np.zeros(len(pairs), dtype=np.int64)
        for is_kind_P in kinds.values():
            folds_P[is_kind_P] = np.arange(is_kind_P.sum()) % num_folds
        return folds_P
    names, fold_of_P = np.unique([pair.fold for pair in pairs], return_inverse=True)
    if len(names) < 2:
        raise TrialInputError(f"{path}: there must be at least 2 folds; got {names[0]} alone")
    for kind, is_kind_P in kinds.items():
        if missing := set(range(len(names))) - set(fold_of_P[is_kind_P].tolist()):
            raise TrialInputError(
                f"{path}: each fold must have pairs of both kinds; fold {names[min(missing)]} has "
                f"none of {kind}"
            )
    return fold_of_P.astype(np.int64)


def _refuse(path: Path, line: int, problem: str) -> NoReturn:
    raise TrialInputError(f"{path}:{line}: {problem}")
