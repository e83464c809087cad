"""Classes that data name by import path, and when these may be imported.

A study file names losses and networks of one's own by import path, and running or planning it
imports them: that is meant. A results folder may come from others, so reading one must not.
"""

import importlib
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from trainables.errors import TrialInputError, unknown_name

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
    """The subclass of ``torch.nn.Module`` at an import path ``package.module:Class``.

    Args:
        kind: what it is to be, for messages: ``loss``, ``backbone``.
        name: the import path.

    Raises:
        TrialInputError: a results folder is being read, or there is no such class.
    """
    if _reading:
        raise TrialInputError(
            f"{_reading[0]} names {name} by import path: to use it would run that module as it is "
            "on this machine; if you trust the folder, say --trust-code"
        )
    module_name, _, class_name = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever the module does when it is imported
        raise TrialInputError(f"{kind} {name}: cannot import {module_name}: {error}") from error
    found = getattr(module, class_name, None)
    if found is None:
        classes = [key for key, item in vars(module).items() if inspect.isclass(item)]
        raise unknown_name(f"{kind} of {module_name}", class_name, classes)
    from torch import nn  # plans of named losses do without it

    if not inspect.isclass(found) or not issubclass(found, nn.Module):
        raise TrialInputError(f"{kind} {name} must be a subclass of torch.nn.Module")
    return found
