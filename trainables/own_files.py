"""Losses and transforms in files of one's own: read where named, then known by the file's name.

``./losses/mine.py:MyLoss`` is ``mine.py:MyLoss`` from then on, wherever the file lies. Its bytes
are kept in this process and travel with each trial (`orchestrator.trials.specification.TrialJob`),
so that a worker needs neither the file nor a Python path. Only they are run
(`trainables.importable_code`), so what is edited later changes nothing until it is read again.
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from podium.trainables.errors import TrialInputError

AROUND = ("memory:", "matryoshka:")
"""What may stand before a loss: what it is composed with."""

_MOST_BYTES = 2**20
_TERM = re.compile(
    r"(?:memory:|matryoshka:)?(?P<path>(?:[^+>:]*/)?(?P<file>[A-Za-z_][\w-]*\.py)):(?P<name>[A-Za-z_]\w*)"
)

_sources: dict[str, bytes] = {}  # by the file's name; of two files the one that was read last


def class_in_file(name: str) -> str:
    """``mine.py:Class`` of ``./losses/mine.py:Class``; empty for other names."""
    found = None if name.startswith(AROUND) else _TERM.fullmatch(name)
    return f"{found['file']}:{found['name']}" if found else ""


def file_of(name: str) -> str:
    """``mine.py`` of ``mine.py:Class``; empty for other names."""
    return class_in_file(name).partition(":")[0]


def paths_in(loss: str) -> tuple[str, ...]:
    """Paths of files, as they are given, in an expression of losses."""
    found = (_TERM.fullmatch(term.strip()) for term in re.split("[+>]", loss))
    return tuple(term["path"] for term in found if term)


def read_files(loss: str, folder: Path) -> None:
    """Read all files that an expression of losses names.

    Args:
        loss: as a user gives it.
        folder: where relative paths begin.

    Raises:
        TrialInputError: a file is not there, cannot be read, or is too large.
    """
    for path in paths_in(loss):
        _sources[Path(path).name] = _read(folder, path)


def read_named(given: str, folder: Path) -> str:
    """``mine.py:NAME`` of ``./mine.py:NAME``, whose file is read; any other name as it is.

    Raises:
        TrialInputError: as of `read_files`.
    """
    read_files(given, folder)
    return class_in_file(given) or given


def keep_files(files: Mapping[str, bytes]) -> None:
    """Know these files, name -> bytes, as if they had been read here."""
    _sources.update(files)


def files_of(name: str) -> dict[str, bytes]:
    """Name -> bytes of all files that the losses of an expression, or a transform, are in.

    Raises:
        TrialInputError: one was not read.
    """
    return {file: source_of(file) for file in (Path(path).name for path in paths_in(name))}


def source_of(file: str) -> bytes:
    """The bytes of a file by its name.

    Raises:
        TrialInputError: it was not read.
    """
    if file not in _sources:
        raise TrialInputError(
            f"{file} is a file of one's own, and its path was not given: name it by that, such"
            f" as ./{file}:Class, or give the study file that does; commands that read a results"
            " folder and have --trust-code run its copy"
        )
    return _sources[file]


def version_of(loss: str) -> str:
    """Something that is another once a file that the loss is in was read with other content."""
    if ".py:" not in loss:
        return ""
    found = [_sources.get(Path(path).name, b"") for path in paths_in(loss)]
    return " ".join(hashlib.sha256(data).hexdigest() for data in found)


def _read(folder: Path, given: str) -> bytes:
    try:
        path = folder / Path(given).expanduser()
        if not path.is_file():
            near = sorted(item.name for item in path.parent.glob("*.py"))
            there = f"; files there: {', '.join(near[:10])}" if near else ""
            raise TrialInputError(f"there is no file {path}{there}")
        with path.open("rb") as opened:
            data = opened.read(_MOST_BYTES + 1)
    except (OSError, RuntimeError) as error:  # RuntimeError: ~name, where there is no such user
        raise TrialInputError(f"cannot read {given}: {error}") from error
    if len(data) > _MOST_BYTES:
        raise TrialInputError(
            f"{path} is too large: a file of code has at most {_MOST_BYTES} bytes"
        )
    return data
