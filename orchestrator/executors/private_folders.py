"""Folders for this user alone that last as long as their process; dead ones' are deleted.

A process that is killed deletes nothing, so every folder holds a file that its process keeps
locked: the operating system frees it at the process's end, whatever ended it, and knows no other
process by the same id. The next run deletes folders whose file is free.
"""

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

import psutil

_NAMES, _LOCK = "podium-" + "?" * 8, "in-use.lock"
_SECONDS_TO_DIE = 5.0


class PrivateFolder:
    """A new folder that only this user can enter, below ``RAY_TMPDIR`` or ``/tmp``.

    It is near the root, because names of sockets must be short.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="podium-", dir=_parent()))
        new = self.path / f"{_LOCK}.new"
        self._descriptor = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        new.rename(self.path / _LOCK)  # only now: it is never there unlocked while this lives

    def remove(self) -> None:
        """Delete the folder and all it holds."""
        _remove(self.path)
        os.close(self._descriptor)


def remove_folders_of_dead_runs() -> None:
    """Delete what killed runs of this user left on this machine, and end what runs of their Ray.

    Ray ends by itself when its driver dies, in up to 70 seconds. Only folders are touched that
    belong to this user, let no other one in, are no links, and hold a free lock.
    """
    dead = dict(_folders_of_dead_runs())
    if dead:
        _end_processes_in(dead)
    for folder, descriptor in dead.items():
        _remove(folder)
        os.close(descriptor)


def _parent() -> Path:
    return Path(os.environ.get("RAY_TMPDIR", "/tmp"))


def _folders_of_dead_runs() -> Iterator[tuple[Path, int]]:
    """Folders whose process is dead, each with its lock, which is held from now on."""
    for folder in _parent().glob(_NAMES):
        with suppress(OSError):  # another one's, no longer there, or in use
            found = folder.lstat()
            mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
            if not mine or stat.S_IMODE(found.st_mode) != 0o700:
                continue
            descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(descriptor)
                raise
            yield folder, descriptor


def _end_processes_in(folders: Collection[Path]) -> None:
    left = [process for process in psutil.process_iter() if _is_of_dead_run(process, folders)]
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.kill()  # the same process: psutil compares when it started
    psutil.wait_procs(left, timeout=_SECONDS_TO_DIE)


def _is_of_dead_run(process: psutil.Process, folders: Collection[Path]) -> bool:
    """Whether it is a process of a Ray whose token or logs lie in one of the folders."""
    try:
        if process.uids().real != os.getuid():
            return False
        if (process.cmdline() or [""])[0].startswith("ray::"):  # Ray's title hides its environment
            used = [Path(file.path) for file in process.open_files()]
        else:
            used = [Path(process.environ().get("RAY_AUTH_TOKEN_PATH", ""))]
    except psutil.Error:  # it has ended, or is another user's
        return False
    return any(folder in path.parents for path in used for folder in folders)


def _remove(folder: Path) -> None:
    """Delete a folder, its lock last, so that the next run knows what cannot be deleted now."""
    with suppress(OSError):
        for path in folder.iterdir():
            if path.name == _LOCK:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        shutil.rmtree(folder)
