"""What a run says while it lasts: what it logs, on standard error or below a notebook's cell."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from podium.terminal.notebooks import is_notebook
from podium.terminal.printing import say

_LOGGERS = tuple(map(logging.getLogger, ("podium", "orchestrator")))


class _Shown(logging.Handler):
    """Prints messages as they are, without dates and names."""

    def emit(self, record: logging.LogRecord) -> None:
        # What notebooks get on standard error they show as if it were wrong.
        say(record.getMessage(), err=not is_notebook())


@contextmanager
def messages_shown(level: int) -> Iterator[None]:
    """Print what podium logs at ``level`` and above until the block ends.

    Within another such block nothing changes: whoever is outside decides.
    """
    if any(isinstance(handler, _Shown) for handler in _LOGGERS[0].handlers):
        yield
        return
    if is_notebook():
        # Of bars that Optuna loads and podium does not draw.
        warnings.filterwarnings("ignore", message="IProgress not found")
    handler = _Shown(level)
    before = [logger.level for logger in _LOGGERS]
    for logger in _LOGGERS:
        logger.addHandler(handler)
        logger.setLevel(min(level, logger.level or level))
    try:
        yield
    finally:
        for logger, own in zip(_LOGGERS, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(own)
