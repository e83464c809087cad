"""Code that data name by import path or file, and when it may run.

A study file names losses, networks and transforms of one's own by import path or, but for
networks, by the path of a file, and running or planning it runs their code: that is meant. A
results folder may come from others, so reading one must not.
"""

import hashlib
import importlib
import importlib.abc
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from podium.trainables.errors import TrialInputError, unknown_name
from podium.trainables.own_files import file_of, source_of

_reading: list[str] = []  # the outermost first; of all threads, since readers may use some


@contextmanager
def importing_nothing(source: object) -> Iterator[None]:
    """Within the block, no module is imported because data name it.

    Args:
        source: what is being read, for messages.
    """
    _reading.append(str(source))
    try:
        yield
    finally:
        _reading.pop()


def module_class(kind: str, name: str) -> type[Any]:
    """The subclass of ``torch.nn.Module`` that `named_object` finds.

    Raises:
        TrialInputError: as `named_object`, or it is another thing.
    """
    found = named_object(kind, name)
    from torch import nn  # plans of named losses do without it

    if not inspect.isclass(found) or not issubclass(found, nn.Module):
        raise TrialInputError(f"{kind} {name} must be a subclass of torch.nn.Module")
    return found


def named_object(kind: str, name: str) -> Any:
    """What ``package.module:Name`` names, or ``mine.py:Name`` in a file that was read before.

    Args:
        kind: what it is to be, for messages: ``loss``, ``backbone``.
        name: the import path, or the file (`trainables.own_files`) and a name in it.

    Raises:
        TrialInputError: a results folder is being read, or there is nothing of that name.
    """
    if _reading:
        raise TrialInputError(
            f"{_reading[0]} names {name}: to use it would run that code as it is on this machine,"
            " or a file's copy in the folder; if you trust the folder, pass --trust-code"
        )
    module_name, _, class_name = name.partition(":")
    is_in_file = bool(file_of(name))
    module = _module_of_file(kind, name) if is_in_file else _imported(kind, name)
    found = getattr(module, class_name, None)
    if found is None:
        known = [
            key
            for key, item in vars(module).items()
            if (inspect.isclass(item) or (kind == "transform" and callable(item)))
            and not (is_in_file and _is_imported(item, module))
        ]
        raise unknown_name(f"{kind} of {module_name}", class_name, known)
    return found


def _is_imported(item: Any, module: ModuleType) -> bool:
    """Whether a class or function is of another module; other objects are made in this one."""
    is_code = inspect.isclass(item) or inspect.isroutine(item)
    return is_code and getattr(item, "__module__", "") != module.__name__


def _imported(kind: str, name: str) -> ModuleType:
    module_name = name.partition(":")[0]
    try:
        return importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # whatever the module does when it is imported
        tried = ""
        if isinstance(error, ModuleNotFoundError) and error.name == module_name.partition(".")[0]:
            places = ", ".join(place or "." for place in sys.path)
            hint = f"; what is in a file is named by its path, ./{error.name}.py:Class"
            tried = f" in {places}{hint if kind != 'backbone' else ''}"
        raise TrialInputError(
            f"{kind} {name}: cannot import {module_name}: {_text(error)}{tried}"
        ) from error


class _Source(importlib.abc.SourceLoader):
    """Loads a module from bytes; nothing is looked for on the Python path, or cached on disk."""

    def __init__(self, file: str, data: bytes) -> None:
        self._file = file
        self._data = data

    def get_filename(self, fullname: str) -> str:
        del fullname
        return self._file

    def get_data(self, path: str | bytes) -> bytes:
        del path
        return self._data


def _module_of_file(kind: str, name: str) -> ModuleType:
    """The file's module; a hash in its name keeps it from hiding any other."""
    file = file_of(name)
    data = source_of(file)
    stem = file.removesuffix(".py").replace("-", "_")
    module_name = f"podium_file_{stem}_{hashlib.sha256(data).hexdigest()[:16]}"
    if module_name in sys.modules:
        return sys.modules[module_name]
    loader = _Source(file, data)
    spec = importlib.util.spec_from_loader(module_name, loader)
    assert spec is not None, "it has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses look for their module there
    try:
        loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever the file does when it is run
        del sys.modules[module_name]
        raise TrialInputError(f"{kind} {name}: {_what_failed(file, error)}") from error
    return module


def failure_text(error: BaseException, names: Iterable[str]) -> str:
    """``mine.py, line 12: RuntimeError: ...``; without the place if no code of a file was run.

    Args:
        error: what was raised; of a text of several lines the first one counts.
        names: losses, or files, of which the innermost line is looked for.
    """
    files = {file_of(name) or name for name in names}
    frames = traceback.extract_tb(error.__traceback__)
    places = [
        f"{frame.filename}, line {frame.lineno}: " for frame in frames if frame.filename in files
    ]
    first_line = next(iter(_text(error).strip().splitlines()), "")
    return f"{''.join(places[-1:])}{type(error).__name__}: {first_line}".removesuffix(": ")


def _text(error: BaseException) -> str:
    return f"it ends the program ({error})" if isinstance(error, SystemExit) else str(error)


def _what_failed(file: str, error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.filename == file:
        return f"{file}, line {error.lineno}: {error.msg}"
    text = failure_text(error, [file])
    if not text.startswith(file):
        text = f"{file}: {text}"
    if isinstance(error, ImportError):
        text += (
            "; a file that is named by its path is run alone, without the files beside it: it may"
            " import what is installed or on the Python path of every node"
        )
    return text
