"""Losses, data sets, backbones, miners, samplers: found by file name, loaded by `load`.

A module of one of the packages below `trainables` is an entry if its name does not start with
"_" and it makes exactly one class public, and no function. Dropping a file into the folder
registers it.
"""

import ast
import contextlib
import importlib
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from podium.errors import PodiumError
from podium.trainables.errors import unknown_name

_LEGEND = re.compile(r"(?<=\.) (?=[A-Z] = )")  # as in "... on pairs. B = batch, D = dimension."
_KINDS = {
    "backbones": "backbone",
    "datasets": "data set",
    "losses": "loss",
    "miners": "miner",
    "batch_samplers": "sampler",
}


def names(package: str) -> tuple[str, ...]:
    """All entries of a package such as ``"losses"``, sorted. Imports none of them."""
    return tuple(_classes(package))


def load(package: str, name: str) -> type[Any]:
    """The class of one entry: ``load("losses", "proxy_anchor")`` is ``ProxyAnchor``.

    Raises:
        TrialInputError: there is no such entry; the message has the nearest names and all names.
    """
    classes = _known(package, name)
    module = importlib.import_module(f"podium.trainables.{package}.{name}")
    loaded: type[Any] = getattr(module, classes[name])
    return loaded


def summary(package: str, name: str) -> str:
    """First line of the docstring of an entry's module, without a legend. Imports nothing.

    Raises:
        TrialInputError: there is no such entry.
    """
    _known(package, name)
    docstring = ast.get_docstring(_syntax_tree(_file(package, name)))
    return _LEGEND.split(docstring.splitlines()[0])[0] if docstring else ""


def literals(
    package: str,
    name: str,
    class_name: str | None = None,
    calls: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
) -> dict[str, Any]:
    """Attributes that the class of an entry states as literals in its body. Imports nothing.

    Args:
        package: package of `trainables`, such as ``"backbones"``.
        name: name of an entry, or of any module of the package if ``class_name`` is given.
        class_name: name of a class of that module; None for the entry's own.
        calls: what may be called, by name, with literals: a call of it counts as a literal.

    Raises:
        TrialInputError: there is no such entry.
        PodiumError: a call of it is refused, as that of a parameter whose default is not legal.
    """
    wanted = class_name or _known(package, name)[name]
    return {
        target: value
        for node in _syntax_tree(_file(package, name)).body
        if isinstance(node, ast.ClassDef) and node.name == wanted
        for statement in node.body
        for target, value in _literal(statement, calls)
    }


def _file(package: str, name: str) -> Path:
    return Path(__file__).parent / package / f"{name}.py"


@cache
def _syntax_tree(file: Path) -> ast.Module:
    return ast.parse(file.read_bytes(), str(file))


def _known(package: str, name: str) -> dict[str, str]:
    classes = _classes(package)
    if name not in classes:
        raise unknown_name(_KINDS[package], name, classes)
    return classes


def _literal(
    statement: ast.stmt, calls: Mapping[str, Callable[..., Any]]
) -> list[tuple[str, Any]]:
    """Name and value if the statement is ``name = literal``; nothing otherwise."""
    match statement:
        case (
            ast.Assign(targets=[ast.Name(id=target)], value=ast.expr() as value)
            | ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value)
        ):
            with contextlib.suppress(ValueError):  # a value that has to be computed
                return [(target, _value(value, calls))]
    return []


def _value(node: ast.expr, calls: Mapping[str, Callable[..., Any]]) -> Any:
    match node:
        case ast.Dict(keys=keys, values=values):
            items = zip(filter(None, keys), values, strict=True)  # ** has no key
            return {ast.literal_eval(key): _value(value, calls) for key, value in items}
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in calls:
            by_name = {str(keyword.arg): _value(keyword.value, calls) for keyword in keywords}
            values = [_value(argument, calls) for argument in args]
            try:
                return calls[name](*values, **by_name)
            except ValueError as error:
                raise PodiumError(f"line {node.lineno} of its file: {error}") from error
    return ast.literal_eval(node)


@cache
def _classes(package: str) -> dict[str, str]:
    """Module name -> class name, read from the source, since importing a loss imports torch."""
    files = sorted((Path(__file__).parent / package).glob("[!_]*.py"))
    classes = {file.stem: _public_class(file) for file in files}
    return {module: name for module, name in classes.items() if name is not None}


def _public_class(file: Path) -> str | None:
    """The one class a module makes public; None if there are several, or a public function."""
    public = [
        node
        for node in _syntax_tree(file).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")
    ]
    match public:
        case [ast.ClassDef(name=name)]:
            return name
    return None
