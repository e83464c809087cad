"""Who imports whom, read from the source without importing anything."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("podium", "search_spaces", "trainables", "orchestrator", "analysis")


@dataclass(frozen=True, slots=True)
class Module:
    """One module of ours.

    ``imports`` holds every module it names anywhere, ``needs`` those that are loaded with it: the
    imports at its top level, without those for type checkers only.
    """

    name: str
    file: Path
    tree: ast.Module
    imports: frozenset[str]
    needs: frozenset[str]

    def defined_names(self) -> set[str]:
        """Names that exist at the top level once the module is loaded."""
        names: set[str] = set()
        for node in _top_level(self.tree.body):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                names.add(node.name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                names |= {alias.asname or alias.name for alias in node.names}
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                names |= {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
        return names


@cache
def modules() -> dict[str, Module]:
    """All modules of the five packages, by dotted name."""
    files = {
        _dotted(file): file for package in PACKAGES for file in (ROOT / package).rglob("*.py")
    }
    return {name: _read(name, file, frozenset(files)) for name, file in sorted(files.items())}


def as_in_tree(name: str) -> str:
    """``analysis.scores`` for ``podium.analysis.scores``: a module is named by its place here."""
    inner = name.removeprefix("podium.")
    return inner if inner.partition(".")[0] in PACKAGES else name


def _dotted(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _read(name: str, file: Path, ours: frozenset[str]) -> Module:
    tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
    return Module(
        name=name,
        file=file,
        tree=tree,
        imports=frozenset(_imported(ast.walk(tree), ours)),
        needs=frozenset(_imported(_top_level(tree.body), ours)),
    )


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run when the module is loaded."""
    for node in body:
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            yield from _top_level([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            handlers = [item for handler in node.handlers for item in handler.body]
            yield from _top_level([*node.body, *handlers, *node.orelse, *node.finalbody])


def _imported(nodes: Iterator[ast.AST], ours: frozenset[str]) -> Iterator[str]:
    """Dotted names; ``from a import b`` is ``a.b`` if that is a module of ours."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (as_in_tree(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                inner = as_in_tree(f"{node.module}.{alias.name}")
                yield inner if inner in ours else as_in_tree(node.module)
