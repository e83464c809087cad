"""What a run says while it lasts: what it logs, on standard error."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from podium.terminal.printing import say

_LOGGERS = tuple(map(logging.getLogger, ("podium", "orchestrator")))


class _Shown(logging.Handler):
    """Prints messages as they are, without dates and names."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage(), err=True)


@contextmanager
def messages_shown(level: int) -> Iterator[None]:
    """Print what podium logs at ``level`` and above until the block ends."""
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
