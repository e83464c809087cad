"""Fingerprints of code that a study names: networks by import path, losses also by file.

What such code computes belongs to a trial's identity. It is read here, never run:

- a module of an installed package counts by the package's name and version and by the list of its
  Python files and compiled modules, with their hashes, that the installer wrote (RECORD). A file
  that was changed since, of another size or younger than the list, counts by its bytes. An
  editable install is no installed package: its files are where they are written;
- a file counts by its name and bytes as they were read (`trainables.loss_files`), with what it
  imports as modules do;
- any other module counts by its bytes, with every module that it imports, directly or through
  others, and that is not installed: `trainables._own_sources` says which are seen.

podium's own modules do not count: `orchestrator.ids_and_seeds.NUMERICS_VERSION` is theirs.
"""

import base64
import contextlib
import csv
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from importlib.machinery import all_suffixes
from pathlib import Path

from trainables._own_sources import (
    Module,
    find_module,
    is_of_podium,
    own_sources,
    sources_of_file,
)
from trainables.errors import TrialInputError
from trainables.loss_files import file_of, source_of

_TIMM = "timm"
_CODE = tuple(suffix for suffix in all_suffixes() if suffix != ".pyc")
_MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignCode:
    """The code behind one import path, as it is on this machine.

    Attributes:
        sources: name -> bytes of each file of one's own. Names are those of modules, such as
            ``losses/mine.py``, wherever the folder lies.
        packages: ``NAME VERSION`` of the installed package -> hash of its files.
    """

    sources: Mapping[str, bytes] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, str]:
        """Name -> SHA-256 of each file of one's own."""
        return {name: hashlib.sha256(data).hexdigest() for name, data in self.sources.items()}

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all of it; the same wherever the files lie."""
        return fingerprint_of(self.files, self.packages)


def fingerprint_of(files: Mapping[str, str], packages: Mapping[str, str]) -> str:
    """The fingerprint of code of which only the hashes are known, as in `ForeignCode`."""
    text = json.dumps({"files": files, "packages": packages}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def foreign_code(import_path: str) -> ForeignCode | None:
    """The code behind an import path; None if it is podium's own.

    Args:
        import_path: ``package.module:Class``, ``mine.py:Class`` or ``timm:NAME``.

    Raises:
        TrialInputError: there is no such module, it has no file, or its files are too many or too
            large to be kept; or a file was not read.
    """
    if file := file_of(import_path):
        return ForeignCode(sources=sources_of_file(import_path, file, source_of(file)))
    module = import_path.partition(":")[0]
    found = find_module(module)
    if found is None:
        hint = ": pip install 'podium[timm]'" if module == _TIMM else " on the Python path"
        raise TrialInputError(f"{import_path}: there is no module {module}{hint}")
    if is_of_podium(found):
        return None
    if found.file is None:
        raise TrialInputError(f"{import_path}: the module {module} has no file of its own")
    packages = _installed_package(found)
    return ForeignCode(
        packages=packages, sources={} if packages else own_sources(import_path, found)
    )


def _installed_package(module: Module) -> dict[str, str]:
    """``NAME VERSION`` of the installed package that lists the module -> its hash; or nothing."""
    folder = module.folder
    if not any(folder.glob("*.dist-info")):
        return {}
    for distribution in _candidates(module.name.partition(".")[0]):
        rows = [*csv.reader((distribution.read_text("RECORD") or "").splitlines())]
        is_here = Path(str(distribution.locate_file(""))) == folder
        if is_here and module.relative_name in {name for name, *_ in rows}:
            return {f"{distribution.name} {distribution.version}": _hash(folder, rows)}
    return {}


def _candidates(top: str) -> Iterator[metadata.Distribution]:
    """Packages that may hold a top-level module; most are called as it is."""
    with contextlib.suppress(metadata.PackageNotFoundError):
        yield metadata.distribution(top)
    for name in _names_by_module(tuple(sys.path)).get(top, ()):
        yield metadata.distribution(name)


@cache
def _names_by_module(path: tuple[str, ...]) -> dict[str, list[str]]:
    """Top-level module -> names of the packages that hold it; slow, so once for a Python path."""
    del path  # it is read from sys
    return {module: [*names] for module, names in metadata.packages_distributions().items()}


def _hash(folder: Path, rows: list[list[str]]) -> str:
    """Hash of the files of code; RECORD lists itself, and was written last."""
    lists = [name for name, *_ in rows if name.endswith(".dist-info/RECORD")]
    written_ns = max(((folder / name).stat().st_mtime_ns for name in lists), default=0)
    found = hashlib.sha256()
    for name, recorded, size in sorted(rows):
        if name.endswith(_CODE) and not name.startswith(".."):
            now = _content(folder / name, recorded, size, written_ns)
            found.update(f"{name}\0{now}\n".encode())
    return found.hexdigest()


def _content(file: Path, recorded: str, size: str, written_ns: int) -> str:
    """Hash of one file as RECORD writes it: ``sha256=...``."""
    try:
        stat = file.stat()
        if recorded and str(stat.st_size) == size and stat.st_mtime_ns <= written_ns:
            return recorded
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").digest()
    except OSError:
        return _MISSING
    return f"sha256={base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"
