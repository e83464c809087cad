"""Copies of the code that a study names by import path, for people and for comparisons.

One folder for each fingerprint, so that a copy never changes: a record of the hashes that the
fingerprint was made of, and the files of one's own. Of installed packages there is the record
alone. Nothing is ever imported from here.
"""

import re
from dataclasses import dataclass
from typing import Any

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.checksummed_text import read_checksummed, write_checksummed
from orchestrator.results.storage.files import list_folders, put, read_record
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

# Module names, separated by slashes: nothing that leads out of the folder.
_FILE = re.compile(r"[\w+-][\w.+-]*(/[\w+-][\w.+-]*)*")
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRecord:
    """What a fingerprint was made of.

    Attributes:
        files: name -> SHA-256 of each file of one's own; the names are those of the copies.
        packages: ``NAME VERSION`` of installed packages -> hash of their files.
    """

    files: dict[str, str]
    packages: dict[str, str]


def write_code(
    paths: StudyPaths, fingerprint: str, record: CodeRecord, sources: dict[str, bytes]
) -> None:
    """Write the copy of some code; one that is there already is written again, as it was.

    Args:
        paths: the results folder.
        fingerprint: the code's fingerprint.
        record: what the fingerprint was made of.
        sources: bytes of each of the record's files.
    """
    for name, data in sources.items():
        put(_file(paths, fingerprint, name), data)
    values = {"files": record.files, "packages": record.packages}
    write_checksummed(paths.code_record(fingerprint), values)


def read_code_record(paths: StudyPaths, fingerprint: str) -> CodeRecord | None:
    """What the fingerprint was made of; None if it was not recorded.

    Raises:
        CorruptFileError: the record is damaged, or names files outside of its folder.
    """
    path = paths.code_record(fingerprint)
    values = read_checksummed(path)
    if values is None:
        return None
    if values.keys() != {"files", "packages"}:
        raise CorruptFileError(f"{path} is not a record of code: it must hold files and packages")
    files, packages = (_texts(path, values[key]) for key in ("files", "packages"))
    for name, written in files.items():
        if not _FILE.fullmatch(name) or not _HASH.fullmatch(written):
            raise CorruptFileError(
                f"{path} is not a record of code: it names {name!r}: {written!r}"
            )
    return CodeRecord(files=files, packages=packages)


def read_code_file(paths: StudyPaths, fingerprint: str, name: str) -> bytes | None:
    """The copy of one file of a record; None if it is missing.

    Raises:
        CorruptFileError: it is no regular file, or larger than any copy.
    """
    return read_record(_file(paths, fingerprint, name))


def copy_all_code(source: StudyPaths, target: StudyPaths) -> None:
    """Copy the code of one results folder into another; equal fingerprints are equal code.

    Raises:
        CorruptFileError: a copy is damaged or incomplete.
    """
    for folder in list_folders(source.code):
        record = read_code_record(source, folder.name)
        if record is None:
            continue  # a start was killed here, and the study does not name it
        sources = {name: read_code_file(source, folder.name, name) for name in record.files}
        if missing := [name for name, data in sources.items() if data is None]:
            raise CorruptFileError(f"{folder / missing[0]} is missing. Restore the file")
        whole = {name: data for name, data in sources.items() if data is not None}
        write_code(target, folder.name, record, whole)


def _file(paths: StudyPaths, fingerprint: str, name: str) -> Place:
    return paths.code_folder(fingerprint) / name


def _texts(path: Place, values: Any) -> dict[str, str]:
    if not isinstance(values, dict) or not all(isinstance(it, str) for it in values.values()):
        raise CorruptFileError(f"{path} is not a record of code: it must hold names and hashes")
    return values
