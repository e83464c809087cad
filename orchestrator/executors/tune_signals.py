"""Keeps Ray Tune from taking the signal by which a batch system announces the time limit."""

import signal
import threading
from typing import Any

# isort: off
import orchestrator.executors.ray_environment  # noqa: F401 - Ray reads it when it is imported

# isort: on
from ray import tune

__all__ = ["KeepSignalHandler"]


class KeepSignalHandler(tune.Callback):
    """Puts back the handler of SIGUSR1 that stood when this was made, just before the Tune run.

    Tune replaces it without being asked, ends its run at the signal, and nobody would know that
    the study is not finished.
    """

    def __init__(self) -> None:
        self._handler = signal.getsignal(signal.SIGUSR1)

    def setup(self, *_: Any, **__: Any) -> None:
        """Tune calls this after it took the signal and before the first trial."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGUSR1, self._handler)
