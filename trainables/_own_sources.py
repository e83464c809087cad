"""The files of a module that is not installed, and of all that it imports and is not either.

Imports are found in the source, inside functions and conditions too; nothing is run. Not seen are
modules that are imported by a computed name, files that code opens, and what an installed package
does. Every byte counts, comments included.
"""

import ast
import importlib.util
import pkgutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path

from trainables.errors import TrialInputError

_MOST_FILES = 2_000
_MOST_BYTES = 64 * 2**20

_HOME = Path(__file__).parents[1]
_OF_PODIUM = ("analysis", "orchestrator", "podium", "search_spaces", "trainables")
_OF_PYTHON = tuple({Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})
_OF_INSTALLED = ("site-packages", "dist-packages")


@dataclass(frozen=True, slots=True)
class Module:
    """A module as the import system finds it.

    Attributes:
        name: its full name, with periods.
        file: its file; None of a package without ``__init__.py`` and of what is built in.
        folders: where its submodules are looked for; None if it is no package.
    """

    name: str
    file: Path | None
    folders: tuple[str, ...] | None

    @property
    def relative_name(self) -> str:
        """Path of its file from the folder on the Python path, wherever that folder lies."""
        assert self.file is not None, "only modules with a file have its name"
        parts = self.name.split(".")
        return "/".join((*(parts if self.folders is not None else parts[:-1]), self.file.name))

    @property
    def folder(self) -> Path:
        """The folder on the Python path."""
        assert self.file is not None, "only modules with a file lie in a folder"
        return self.file.parents[self.relative_name.count("/")]


def find_module(name: str) -> Module | None:
    """The module of a name; None if there is none. Neither it nor its packages are run."""
    top, *rest = _beginnings(name)
    found = _top_module(top)
    for part in rest:
        if found is None or found.folders is None:
            return None  # a module that is no package has no submodules
        found = _submodule(part, found.folders)
    return found


def is_of_podium(module: Module) -> bool:
    """Whether it is one of podium's own packages, or lies in one."""
    top = module.name.partition(".")[0]
    if top not in _OF_PODIUM:
        return False
    return any(place.is_relative_to(_HOME / top) for place in _places(module))


def own_sources(import_path: str, root: Module) -> dict[str, bytes]:
    """Name -> bytes of the module's file and of all that it imports and is not installed.

    Args:
        import_path: what a study says, for messages.
        root: its module, which has a file.

    Raises:
        TrialInputError: there are too many files, or too large ones, to be kept with results; or
            one cannot be read.
    """
    top = root.name.partition(".")[0]
    return dict(sorted(_imported_sources(import_path, _beginnings(root.name), top).items()))


def sources_of_file(import_path: str, file: str, data: bytes) -> dict[str, bytes]:
    """Name -> bytes of a file that is no module, and of all that it imports and is not installed.

    Args:
        import_path: what a study says, for messages.
        file: the file's name, without its path.
        data: its bytes.

    Raises:
        TrialInputError: as `own_sources`.
    """
    root = Module(file.removesuffix(".py"), Path(file), None)
    names = (part for name in _imported(root, data) for part in _beginnings(name))
    return dict(sorted({**_imported_sources(import_path, names), file: data}.items()))


def _imported_sources(import_path: str, names: Iterable[str], top: str = "") -> dict[str, bytes]:
    """Sources of these modules and of what they import.

    Args:
        import_path: what a study says, for messages.
        names: full names of modules; some may be no modules.
        top: package whose modules are one's own even among installed ones; empty for none.
    """
    open_names, seen = [*names], set[str]()
    sources: dict[str, bytes] = {}
    num_bytes = 0
    while open_names:
        name = open_names.pop()
        if name in seen:
            continue
        seen.add(name)
        module = find_module(name)
        if module is None or module.file is None or not _is_own(module, top):
            continue
        data = _read(import_path, module.file)
        sources[module.relative_name] = data
        num_bytes += len(data)
        if len(sources) > _MOST_FILES or num_bytes > _MOST_BYTES:
            raise TrialInputError(
                f"{import_path} imports more of your own code than is kept with results:"
                f" {len(sources)} files with {num_bytes / 2**20:.0f} MiB so far, of at most"
                f" {_MOST_FILES} and {_MOST_BYTES // 2**20} MiB; put it into a folder of its own,"
                " or install it as a package"
            )
        open_names += [part for it in _imported(module, data) for part in _beginnings(it)]
    return sources


def _beginnings(name: str) -> Iterator[str]:
    """``a``, ``a.b`` and ``a.b.c`` of ``a.b.c``: packages are run before what they hold."""
    parts = name.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def _top_module(name: str) -> Module | None:
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)  # finders of old have none
        spec: ModuleSpec | None = None if find is None else find(name, None)
        if spec is not None:
            return _module(name, spec)
    return None


def _submodule(name: str, folders: tuple[str, ...]) -> Module | None:
    """A module of a package; the finders of whole names would need the package to be imported."""
    portions: list[str] = []
    for folder in folders:
        finder = pkgutil.get_importer(folder)
        spec = None if finder is None else finder.find_spec(name)
        if spec is not None and spec.loader is not None:
            return _module(name, spec)
        portions += (spec.submodule_search_locations or ()) if spec is not None else ()
    return Module(name, None, tuple(portions)) if portions else None


def _module(name: str, spec: ModuleSpec) -> Module:
    folders = spec.submodule_search_locations
    file = Path(spec.origin) if spec.has_location and spec.origin else None
    return Module(name, file, None if folders is None else tuple(folders))


def _places(module: Module) -> list[Path]:
    return [module.file] if module.file is not None else list(map(Path, module.folders or ()))


def _is_own(module: Module, top: str) -> bool:
    """Whether a module counts by its source: not Python's, podium's or of an installed package.

    What lies among installed packages without being one is own as far as its own package goes.
    """
    if is_of_podium(module):
        return False
    places = _places(module)
    if any(part in _OF_INSTALLED for place in places for part in place.parts):
        return module.name.partition(".")[0] == top
    return not any(place.is_relative_to(folder) for place in places for folder in _OF_PYTHON)


def _read(import_path: str, file: Path) -> bytes:
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise TrialInputError(
                f"{import_path}: {file} is too large to be kept with results, which is at"
                f" most {_MOST_BYTES // 2**20} MiB"
            )
        return file.read_bytes()
    except OSError as error:
        raise TrialInputError(f"{import_path}: cannot read {file}: {error}") from error


def _imported(module: Module, data: bytes) -> Iterator[str]:
    """Full names of modules that the source may import; some are names of what is in modules."""
    if module.file is None or module.file.suffix != ".py":
        return
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return  # it cannot be run, so it imports nothing
    package = module.name if module.folders is not None else module.name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(node, package)
            if origin:
                yield origin
                yield from (f"{origin}.{alias.name}" for alias in node.names if alias.name != "*")


def _origin(node: ast.ImportFrom, package: str) -> str | None:
    """What ``from`` names; None if it leads out of the package, which fails when run."""
    try:
        return importlib.util.resolve_name("." * node.level + (node.module or ""), package)
    except ImportError:
        return None
