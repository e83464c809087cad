"""Stopping a run from outside: Ctrl-C, SIGTERM, and the warning of a batch system, SIGUSR1."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Protocol, Self

__all__ = ["StopSignals", "Stopped"]

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)


class Stopped(BaseException):
    """Raised at once: nothing is being trained that could be stopped cleanly."""


class Stoppable(Protocol):
    """What trains, and can be stopped cleanly."""

    def stop(self) -> None:
        """Ask for a clean stop."""


class StopSignals:
    """Handles the stop signals while its block runs; use in the main thread.

    The first signal stops what trains cleanly, or raises `Stopped` if nothing trains yet or any
    more. Later ones change nothing, because a batch system repeats them; but a Ctrl-C after any
    signal is a person who does not want to wait, and raises `Stopped` at once.
    """

    def __init__(self) -> None:
        self._training: Stoppable | None = None
        self._is_stopping = False

    def __enter__(self) -> Self:
        """Install the handlers."""
        self._before = {number: signal.getsignal(number) for number in _NUMBERS}
        self._install()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Restore the handlers of before."""
        for number, handler in self._before.items():
            signal.signal(number, handler or signal.SIG_DFL)
        if isinstance(error, SystemExit) and error.code == signal.SIGTERM:
            raise Stopped from error  # Ray exits like this if SIGTERM comes while it starts

    @contextmanager
    def stopping(self, training: Stoppable) -> Iterator[None]:
        """While the block runs, ``training`` is what a signal stops."""
        self._training = training
        self._install()  # Ray has installed its own for SIGTERM meanwhile
        try:
            yield
        finally:
            self._training = None

    def _install(self) -> None:
        for number in _NUMBERS:
            signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        is_repeated, self._is_stopping = self._is_stopping, True
        if is_repeated:
            if number == signal.SIGINT:
                raise Stopped
        elif self._training is None:
            raise Stopped
        else:
            self._training.stop()
