"""Fingerprints of code that a study names: networks by import path, losses also by file.

Such code belongs to a trial's identity. It is read here, never run. A file or module counts by
its bytes, with what it imports and that is not installed; imports are found in the source, those
inside functions too. A module of an installed package counts by the package's name, version and
the list of its files. podium's own modules do not count: `orchestrator.ids_and_seeds` has a
version of the numerics for them.
"""

import ast
import csv
import hashlib
import importlib.util
import json
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from importlib.machinery import all_suffixes
from pathlib import Path

from podium.trainables.errors import TrialInputError
from podium.trainables.own_files import file_of, source_of

_HOME = Path(__file__).parents[1]
_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
_CODE = tuple(suffix for suffix in all_suffixes() if suffix != ".pyc")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignCode:
    """The code behind one import path, as it is on this machine.

    Attributes:
        sources: name -> bytes of each file of one's own. Names are those of modules, such as
            ``losses/mine.py``, wherever the folder lies.
        packages: ``NAME VERSION`` of the installed package -> hash of its list of files.
    """

    sources: Mapping[str, bytes] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all of it; the same wherever the files lie."""
        files = {name: hashlib.sha256(data).hexdigest() for name, data in self.sources.items()}
        text = json.dumps({"files": files, "packages": dict(self.packages)}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def foreign_code(import_path: str) -> ForeignCode | None:
    """The code behind an import path; None if it is podium's own.

    Args:
        import_path: ``package.module:Class``, ``mine.py:Class`` or ``timm:NAME``.

    Raises:
        TrialInputError: there is no such module, or a file was not read or cannot be.
    """
    if file := file_of(import_path):
        data = source_of(file)
        return ForeignCode(sources={**_own_sources(_imported(data, "")), file: data})
    module = import_path.partition(":")[0]
    found, top = _file_of(module), module.partition(".")[0]
    if found is None:
        hint = ": pip install 'podium[timm]'" if module == "timm" else " on the Python path"
        raise TrialInputError(f"{import_path}: there is no file of a module {module}{hint}")
    if found.is_relative_to(_HOME):
        return None
    packages = _installed_package(top, found)
    return ForeignCode(packages=packages, sources={} if packages else _own_sources([module], top))


def _own_sources(modules: Iterable[str], top: str = "") -> dict[str, bytes]:
    """Name -> bytes of the files of modules and of all that they import and is not installed.

    Args:
        modules: full names; some may be no modules.
        top: package whose modules are one's own even among installed ones; empty for none.
    """
    waiting, seen = [*modules], set[str]()
    sources: dict[str, bytes] = {}
    while waiting:
        name = waiting.pop()
        if not name or name in seen:
            continue
        seen.add(name)
        *folder, _ = parts = name.split(".")
        waiting.append(".".join(folder))  # a package is run before what it holds
        file = _file_of(name)
        if file is None or not _is_own(file, is_named=parts[0] == top):
            continue
        package = parts if file.stem == "__init__" else folder
        try:
            data = file.read_bytes()
        except OSError as error:
            raise TrialInputError(f"cannot read {file}: {error}") from error
        sources["/".join((*package, file.name))] = data
        waiting += _imported(data, ".".join(package)) if file.suffix == ".py" else ()
    return sources


def _file_of(module: str) -> Path | None:
    """The file of a module; None if there is none. Neither it nor its packages are run."""
    top, *inner = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except ValueError:  # of a module that nobody imported, such as __main__
        return None
    if spec is None:
        return None
    if inner:
        places = [Path(it, *inner) for it in spec.submodule_search_locations or ()]
        files = [file for it in places for file in (it / "__init__.py", Path(f"{it}.py"))]
    else:
        files = [Path(spec.origin)] if spec.has_location and spec.origin else []
    return next((file for file in files if file.is_file()), None)


def _is_own(file: Path, *, is_named: bool) -> bool:
    if {"site-packages", "dist-packages"} & set(file.parts):
        return is_named
    return not any(map(file.is_relative_to, (_HOME, _STANDARD_LIBRARY)))


def _imported(data: bytes, package: str) -> Iterator[str]:
    """Full names of modules that a source may import; some are names of what is in modules."""
    try:
        nodes = [*ast.walk(ast.parse(data))]
    except (SyntaxError, ValueError, RecursionError):
        return  # it cannot be run, so it imports nothing
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            try:
                name = "." * node.level + (node.module or "")
                origin = importlib.util.resolve_name(name, package)
            except ImportError:
                continue  # it leads out of the package, which fails when run
            yield from (origin, *(f"{origin}.{alias.name}" for alias in node.names))


def _installed_package(top: str, file: Path) -> dict[str, str]:
    """``NAME VERSION`` of the installed package that lists a file -> hash; or nothing."""
    for found in _distributions(top, file):
        rows = [*csv.reader((found.read_text("RECORD") or "").splitlines())]
        if any(Path(str(found.locate_file(name))) == file for name, *_ in rows):
            code = [
                f"{name}\0{recorded}\n"
                for name, recorded, _ in sorted(rows)
                if name.endswith(_CODE) and not name.startswith("..")
            ]
            hashed = hashlib.sha256("".join(code).encode()).hexdigest()
            return {f"{found.name} {found.version}": hashed}
    return {}


def _distributions(top: str, file: Path) -> Iterator[metadata.Distribution]:
    """Packages that may hold a file of a top-level module; most are called as it is."""
    with suppress(metadata.PackageNotFoundError):
        yield metadata.distribution(top)
    above = [path for path in sys.path if file.is_relative_to(Path(path).absolute())]
    yield from metadata.distributions(path=above)
