"""Whether a module may be imported because data name it. No torch.

A study file names losses and networks of one's own by import path, and running or planning it
imports them: that is meant. A results folder may come from others, so reading one must not.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from trainables.errors import TrialInputError

__all__ = ["check_importable", "importing_nothing"]

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


def check_importable(name: str) -> None:
    """To be called before a module is imported that a study or a file names.

    Raises:
        TrialInputError: a results folder is being read.
    """
    if _reading:
        raise TrialInputError(
            f"{_reading[0]} names {name} by import path: to use it would run that module as it is "
            "on this machine; if you trust the folder, say --trust-code"
        )
