import errno
import fcntl
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from podium.trainables.file_caches.file_locks import file_lock

HOLD = """
import sys, time
from pathlib import Path
from podium.trainables.file_caches.file_locks import file_lock
with file_lock(Path(sys.argv[1]), doing="holding"):
    print("inside", flush=True)
    time.sleep(60)
"""


def _note_entry_and_exit(path, log):
    with file_lock(path, doing="a test") as is_locked:
        assert is_locked
        with log.open("a") as file:
            file.write("in ")
            file.flush()
            time.sleep(0.05)
            file.write("out ")


def test_processes_are_inside_one_after_the_other(tmp_path):
    context = multiprocessing.get_context("spawn")
    calls = [(tmp_path / "lock", tmp_path / "log")] * 4
    with context.Pool(4) as pool:
        pool.starmap(_note_entry_and_exit, calls, chunksize=1)
    assert (tmp_path / "log").read_text() == "in out " * 4


def test_threads_are_inside_one_after_the_other(tmp_path):
    calls = (tmp_path / "lock", tmp_path / "log")
    threads = [threading.Thread(target=_note_entry_and_exit, args=calls) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "log").read_text() == "in out " * 4


def test_whoever_waits_is_reported_for_whom(tmp_path, capfd):
    """A holder that was stopped keeps others waiting until somebody looks after it."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "lock"], stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout.readline() == b"inside\n"
        os.kill(holder.pid, signal.SIGSTOP)
        waiter = threading.Thread(
            target=_note_entry_and_exit, args=(tmp_path / "lock", tmp_path / "log")
        )
        waiter.start()
        expected = f"podium: process {holder.pid} on {socket.gethostname()} is a test"
        told = ""
        while not told:
            time.sleep(0.01)
            told = capfd.readouterr().err
        assert told.startswith(expected)
        assert not (tmp_path / "log").exists()
    finally:
        holder.kill()
        holder.communicate()
    waiter.join()
    assert (tmp_path / "log").read_text() == "in out "


def test_an_error_inside_lets_the_next_one_in(tmp_path):
    with pytest.raises(KeyError), file_lock(tmp_path / "lock", doing="failing"):
        raise KeyError
    with file_lock(tmp_path / "lock", doing="a test") as is_locked:
        assert is_locked


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with (
        pytest.raises(FileNotFoundError),
        file_lock(tmp_path / "no" / "lock", doing="a test"),
    ):
        pass


def test_without_locks_everybody_continues_and_is_reported(tmp_path, monkeypatch, capsys):
    """No file system here lacks locks, so that the system's answer is put in its place."""

    def refuse(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with file_lock(tmp_path / "lock", doing="building x") as is_locked:
        assert not is_locked
    assert capsys.readouterr().err == (
        f"podium: {tmp_path} has no file locks (No locks available); several processes may be "
        "building x, each on its own\n"
    )
