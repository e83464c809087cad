"""Stopping podium from outside: Ctrl-C, SIGTERM, and the warning of a batch system, SIGUSR1.

Whenever a signal comes, the process ends with one line that says so and exit code 3, or, once its
command is over, as if it had not come:

- before a command begins, at once (`end_at_once_before_commands`);
- within a command, by `Stopped`, or by a clean stop of what trains (`StopSignals`);
- after it, not at all: the process ends in a moment.

This module is imported before all others, so it imports next to nothing.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

from podium.errors import PodiumError

INTERRUPTED = 3
"""Exit code of what was stopped by a signal."""

AGAIN = "Stopped. The same command goes on; a run continues where it stopped."
"""What is said where a command has nothing more to say of it."""

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)


class Stopped(BaseException):
    """Raised at once: nothing is being trained that could be stopped cleanly."""


class Interrupted(KeyboardInterrupt):
    """A run was stopped from outside, cleanly: what is done is stored, and the rest can follow."""


def end_at_once_before_commands() -> None:
    """Let stop signals end this process at once until a command begins, which imports a lot."""
    for number in _NUMBERS:
        signal.signal(number, _end_before_commands)


def ignore_after_commands() -> None:
    """Let stop signals change nothing any more: all is said and done, and the process ends."""
    for number in _NUMBERS:
        signal.signal(number, signal.SIG_IGN)


def _end_before_commands(number: int, frame: FrameType | None) -> None:
    _end_with("Stopped before anything began; nothing was written.")


def _end_with(line: str) -> None:
    os.write(2, f"{line}\n".encode())
    os._exit(INTERRUPTED)


class StopSignals:
    """Handles the stop signals while its block runs; use in the main thread.

    The first signal stops what trains cleanly, or raises `Stopped` if nothing trains yet or any
    more. Later ones change nothing, because a batch system repeats them; but a Ctrl-C after any
    signal is a person who does not want to wait, and raises `Stopped` at once.

    An error that `Stopped` became on its way leaves the block as `Stopped`. Where it was raised
    within what Python calls without a caller, such as a finaliser, the process ends at once.
    """

    def __init__(self) -> None:
        self._stop: Callable[[], object] | None = None
        self._is_stopping = self._has_raised = False

    def __enter__(self) -> "StopSignals":
        """Install the handlers."""
        self._before = {number: signal.getsignal(number) for number in _NUMBERS}
        self._hook_before = sys.unraisablehook
        sys.unraisablehook = self._end_if_stopped
        self._install()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Restore the handlers of before, or none where the process's command is over."""
        for number, handler in self._before.items():
            is_over = handler is _end_before_commands
            signal.signal(number, signal.SIG_IGN if is_over else handler or signal.SIG_DFL)
        sys.unraisablehook = self._hook_before
        # A value may be refused because of the stop, such as a module whose import it broke off.
        is_of_user = isinstance(error, PodiumError) and not isinstance(error, ValueError)
        if self._has_raised and error is not None and not is_of_user:
            raise Stopped from error
        # Whoever ends podium may end its Ray before it, as a batch system does.
        if self._is_stopping and isinstance(error, PodiumError) and error.exit_code == INTERRUPTED:
            raise Stopped from error

    @contextmanager
    def stopping(self, stop: Callable[[], object]) -> Iterator[None]:
        """While the block runs, a signal calls ``stop``, which asks for a clean stop."""
        self._stop = stop
        try:
            yield
        finally:
            self._stop = None

    def _install(self) -> None:
        for number in _NUMBERS:
            signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        is_repeated, self._is_stopping = self._is_stopping, True
        if is_repeated and number != signal.SIGINT:
            return
        if self._stop is None or is_repeated:
            self._has_raised = True
            raise Stopped
        self._stop()

    def _end_if_stopped(self, unraisable: "sys.UnraisableHookArgs") -> None:
        if isinstance(unraisable.exc_value, Stopped):
            _end_with(AGAIN)
        self._hook_before(unraisable)
