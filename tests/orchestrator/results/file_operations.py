"""What changes the disk, counted and ended at a chosen operation."""

import os
from pathlib import Path

__all__ = ["FileOperations", "Killed"]


class Killed(BaseException):
    """As SIGKILL: nothing of the program happens on the disk afterwards."""


class FileOperations:
    """Counts what changes the disk, and ends it at a chosen operation.

    `between` is called before each operation, as another process could look at that moment.
    """

    CALLS = ((Path, "open"), (Path, "replace"), (Path, "unlink"), (Path, "mkdir"), (os, "fsync"))

    def __init__(self, monkeypatch, between=lambda: None, die_at=None, error=None):
        self.count = 0
        self._between, self._die_at, self._error = between, die_at, error
        self._is_dead = self._is_looking = False
        for owner, name in self.CALLS:
            monkeypatch.setattr(owner, name, self._watched(getattr(owner, name)))

    def _watched(self, real):
        def operation(*arguments, **options):
            if not self._is_looking:
                self._step()
            return real(*arguments, **options)

        return operation

    def _step(self):
        if self._is_dead:
            raise Killed
        self._is_looking = True
        try:
            self._between()
        finally:
            self._is_looking = False
        self.count += 1
        if self.count == self._die_at:
            self._is_dead = self._error is None
            raise self._error or Killed
