"""What changes the disk, counted and ended at a chosen operation."""

import errno
import os
import random
import re
import shutil
from datetime import date
from pathlib import Path

import pytest

from podium.errors import StoreError
from podium.orchestrator.results.records.store_paths import StudyPaths

SOME_OR_ALL = pytest.mark.parametrize(
    "are_all", [False, pytest.param(True, marks=pytest.mark.soak)], ids=["some", "all"]
)
"""For `ended_stores`: the last and two other operations, or all of them."""

FULL = OSError(errno.ENOSPC, "No space left on device")

_VARYING = re.compile(r"[0-9a-f]{16}|\d+")  # random and counted parts of names


class Killed(BaseException):
    """As SIGKILL: nothing of the program happens on the disk afterwards."""


class FileOperations:
    """Counts what changes the disk, and ends it at a chosen operation.

    `between` is called before each operation, as another process could look at that moment.
    `kinds` holds what was done to what kind of file, in order.
    """

    CALLS = (
        *((Path, "open"), (Path, "replace"), (Path, "unlink"), (Path, "mkdir")),
        *((os, "fsync"), (os, "pwrite")),
    )

    def __init__(self, monkeypatch, between=lambda: None, die_at=None, error=None):
        self.kinds = []
        self._between, self._die_at, self._error = between, die_at, error
        self._is_dead = self._is_looking = False
        for owner, name in self.CALLS:
            monkeypatch.setattr(owner, name, self._watched(getattr(owner, name)))

    @property
    def count(self):
        return len(self.kinds)

    def _watched(self, real):
        def operation(target, *arguments, **options):
            if not self._is_looking:
                self._step(real.__name__, target)
            return real(target, *arguments, **options)

        return operation

    def _step(self, name, target):
        if self._is_dead:
            raise Killed
        self._is_looking = True
        try:
            self._between()
        finally:
            self._is_looking = False
        path = target if isinstance(target, Path) else Path(f"/proc/self/fd/{target}").readlink()
        self.kinds.append((name, _VARYING.sub("#", "/".join(path.parts[-2:]))))
        if self.count == self._die_at:
            self._is_dead = self._error is None
            raise self._error or Killed


def ended_stores(folder, monkeypatch, make, act, *, are_all, error=None):
    """Stores in which `act` was ended at one file operation after the other, then a whole one.

    Args:
        folder: empty folder for the stores.
        monkeypatch: pytest's.
        make: makes the store in a folder.
        act: what is ended.
        are_all: whether it is ended at all operations, or at some.
        error: what is raised there, at that operation alone; None kills.
    """
    made = make(folder / "made").folder.relative_to(folder)
    copies = folder / "copies"

    def ended_at(moment):
        shutil.copytree(folder / made.parts[0], copies / str(moment) / made.parts[0])
        store = StudyPaths(copies / str(moment) / made)
        with monkeypatch.context() as patch:
            operations = FileOperations(patch, die_at=moment, error=error)
            try:
                act(store)
            except (Killed, StoreError):
                assert moment is not None
            else:  # a temporary name that stays is no fault
                assert moment is None or operations.kinds[moment - 1][1].endswith(".tmp")
        return store, operations.kinds

    whole, kinds = ended_at(None)
    assert len(kinds) > 3
    for moment in range(1, len(kinds) + 1) if are_all else _some(len(kinds)):
        yield ended_at(moment)[0]
    yield whole


def _some(num):
    """The last of so many operations, from 1, and two others drawn anew each day."""
    seed = date.today().toordinal()
    print(f"operations drawn by the seed {seed}")
    return sorted({num, *random.Random(seed).sample(range(1, num), 2)})
