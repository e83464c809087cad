import json
import os
import signal
import sys
import threading
import time

import pytest

from orchestrator.results.locks import local_lock
from orchestrator.results.locks.local_lock import LocalLock
from orchestrator.results.locks.lock_owner import machine_id, process_start
from orchestrator.results.locks.study_lock import StudyLock
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.file_guard import exclusive
from podium.errors import CorruptFileError, LockHeldError, StoreError
from tests.orchestrator.results.locking import held_by_another_process, race, wait_until

BEAT = 0.02
WATCH = 0.3


@pytest.fixture
def lock(paths, messages):
    return StudyLock(paths, messages.append, heartbeat_seconds=BEAT, watch_seconds=WATCH)


@pytest.fixture
def other_run(paths):
    """A second process that holds the lock; killed in the end."""
    with held_by_another_process(paths.folder) as process:
        yield process


def owner(paths):
    return json.loads(paths.lock.read_text())


def edit(paths, **changes):
    """Replace values in the lock file, as another machine would: whole."""
    temporary = paths.lock.with_suffix(".edited")
    temporary.write_text(json.dumps({**owner(paths), **changes}))
    temporary.replace(paths.lock)


def heartbeat_threads():
    return [thread for thread in threading.enumerate() if thread.name == "study-lock"]


def test_the_lock_names_its_owner_while_held_and_is_gone_afterwards(paths, lock, messages):
    with lock:
        found = owner(paths)
        assert found["pid"] == os.getpid()
        assert found["process_start"] == process_start(os.getpid())
        wait_until(lambda: owner(paths)["heartbeat"] > found["heartbeat"] + 1)
        assert owner(paths)["token"] == found["token"]
        lock.raise_if_lost()
        assert len(heartbeat_threads()) == 1
    assert not paths.lock.exists()
    assert heartbeat_threads() == []
    assert messages == []


def test_an_exception_frees_the_lock_too(paths, lock):
    def fail():
        with lock:
            raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        fail()
    assert not paths.lock.exists()
    assert heartbeat_threads() == []


def test_a_second_run_is_refused_and_learns_the_owner_of_the_lock(
    paths, lock, messages, other_run
):
    before = owner(paths)["token"]
    message = rf"study is locked: process {other_run.pid} on .+ is running this study"
    with pytest.raises(LockHeldError, match=message), lock:
        raise AssertionError("two runs at once")
    assert owner(paths)["token"] == before
    assert heartbeat_threads() == []
    assert messages == []


def test_a_second_lock_in_the_same_process_is_refused_too(paths, lock):
    second = StudyLock(paths, print)
    with lock, pytest.raises(LockHeldError, match=f"process {os.getpid()} on"), second:
        raise AssertionError("two locks at once")


def test_a_stopped_owner_on_this_machine_is_still_the_owner(lock, messages, other_run):
    other_run.send_signal(signal.SIGSTOP)
    with pytest.raises(LockHeldError, match=f"process {other_run.pid} on"), lock:
        raise AssertionError("two runs at once")
    assert messages == []


def test_a_killed_owner_on_this_machine_is_replaced_without_waiting(
    paths, lock, messages, other_run
):
    other_run.kill()  # and not reaped: its id is still taken
    wait_until(lambda: process_start(other_run.pid) is None)
    with lock:
        assert owner(paths)["pid"] == os.getpid()
    assert messages == []  # nothing was watched


def test_a_process_that_only_has_the_same_id_is_not_the_owner(paths, lock, messages, other_run):
    other_run.send_signal(signal.SIGSTOP)
    edit(paths, process_start="12")
    with lock:
        assert owner(paths)["pid"] == os.getpid()
    assert messages == []


def stale_foreign_lock(paths, lock):
    with lock:
        text = paths.lock.read_text()
    paths.lock.write_text(text)
    edit(paths, host="far", machine="far away", pid=1, token="theirs")


def test_a_lock_of_another_machine_that_does_not_move_is_taken_over(paths, messages):
    stale_foreign_lock(paths, StudyLock(paths, print))
    with StudyLock(paths, messages.append, heartbeat_seconds=BEAT, watch_seconds=WATCH) as lock:
        assert owner(paths)["host"] != "far"
        lock.raise_if_lost()
    (message,) = messages
    assert (
        "belongs to process 1 on far, which cannot be seen from here; checking for 0.3" in message
    )


def test_a_lock_of_another_machine_that_moves_is_refused(paths, messages):
    stale_foreign_lock(paths, StudyLock(paths, print))
    stop = threading.Event()

    def beat():
        while not stop.wait(BEAT):
            edit(paths, heartbeat=owner(paths)["heartbeat"] + 1)

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        lock = StudyLock(paths, messages.append, watch_seconds=30.0)
        with pytest.raises(LockHeldError, match="process 1 on far is running this study"), lock:
            raise AssertionError("two runs at once")
    finally:
        stop.set()
        thread.join()
    assert owner(paths)["token"] == "theirs"


def test_a_lock_of_another_machine_that_is_freed_while_watched_is_taken(paths, messages):
    stale_foreign_lock(paths, StudyLock(paths, print))
    threading.Timer(BEAT, paths.lock.unlink).start()
    with StudyLock(paths, messages.append, watch_seconds=30.0):
        assert owner(paths)["pid"] == os.getpid()


def test_of_many_runs_that_find_a_dead_owner_one_gets_the_lock(paths, other_run):
    other_run.kill()
    other_run.wait()
    assert len(race(paths)) == 1


def test_a_start_while_another_run_is_at_the_lock_waits_and_is_then_refused(
    paths, lock, monkeypatch
):
    monkeypatch.setattr(local_lock, "_GUARD_LIMIT_SECONDS", 3 * BEAT)
    with (
        exclusive(paths.lock_guard, limit_seconds=0),
        pytest.raises(LockHeldError, match="is being locked by another run; try again"),
        lock,
    ):
        raise AssertionError("two runs at the lock")
    assert not paths.lock.exists()


def test_an_owner_learns_that_another_run_took_its_lock_and_leaves_it_alone(paths, lock, messages):
    with lock:
        edit(paths, host="far", pid=7, token="theirs")
        wait_until(lambda: messages)
        with pytest.raises(LockHeldError, match=r"lost the lock of .*/study to process 7 on far"):
            lock.raise_if_lost()
        wait_until(lambda: not heartbeat_threads())
    assert owner(paths)["token"] == "theirs"
    assert len(messages) == 1


def test_an_owner_learns_that_its_lock_was_deleted(paths, lock, messages):
    with lock:
        paths.lock.unlink()
        wait_until(lambda: messages)
        with pytest.raises(LockHeldError, match=r"lock\.json was deleted"):
            lock.raise_if_lost()
    assert not paths.lock.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="swaps two names as only Linux can")
def test_a_heartbeat_that_cannot_be_written_is_reported_once_and_continues(paths, lock, messages):
    with lock:
        kept = paths.lock.with_suffix(".kept")
        os.link(paths.lock, kept)
        (paths.folder / "in_the_way").mkdir()
        _exchange(paths.lock, paths.folder / "in_the_way")
        wait_until(lambda: messages)
        time.sleep(5 * BEAT)
        assert len(messages) == 1
        assert f"heartbeat of the study's lock fails: {paths.lock} is a folder" in messages[0]
        _exchange(paths.lock, paths.folder / "in_the_way")
        wait_until(lambda: len(messages) == 2)
        assert messages[1] == "the heartbeat of the study's lock is written again"
        lock.raise_if_lost()
        before = owner(paths)["heartbeat"]
        wait_until(lambda: owner(paths)["heartbeat"] > before)
    assert not paths.lock.exists()


def _exchange(some, other):
    """Swap two names at once, so that neither is ever missing."""
    import ctypes

    exchange = 2
    at_working_folder = -100
    libc = ctypes.CDLL(None, use_errno=True)
    failed = libc.renameat2(
        at_working_folder, os.fsencode(some), at_working_folder, os.fsencode(other), exchange
    )
    assert not failed, os.strerror(ctypes.get_errno())


@pytest.mark.parametrize(
    ("text", "message"), [("{", "is not valid JSON"), ("{}", "is not a lock")]
)
def test_a_damaged_lock_is_named_and_not_taken(paths, lock, text, message):
    paths.folder.mkdir()
    paths.lock.write_text(text)
    with pytest.raises(CorruptFileError, match=rf"lock\.json {message}"), lock:
        raise AssertionError("took a damaged lock")
    assert paths.lock.read_text() == text


def test_a_folder_that_cannot_be_written_is_a_store_error(tmp_path):
    (tmp_path / "taken").write_text("")
    with (
        pytest.raises(StoreError, match=r"cannot lock .*/taken"),
        StudyLock(StudyPaths(tmp_path / "taken" / "study"), print),
    ):
        raise AssertionError("locked nothing")


def test_processes_are_distinguished_by_when_they_started(other_run):
    assert process_start(os.getpid()) == process_start(os.getpid()) is not None
    assert process_start(other_run.pid) != process_start(os.getpid())
    other_run.kill()
    other_run.wait()
    assert process_start(other_run.pid) is None
    assert machine_id() == machine_id()


def test_a_run_that_was_stopped_for_long_asks_before_it_writes(tmp_path):
    paths = StudyPaths(tmp_path / "study")

    def owner():
        return json.loads(paths.lock.read_text())

    with StudyLock(paths, print, heartbeat_seconds=1000.0, watch_seconds=0.4) as lock:
        lock.raise_if_lost()  # young enough to be believed
        assert owner()["heartbeat"] == 0
        time.sleep(0.3)  # as SIGSTOP: no heartbeat meanwhile
        lock.raise_if_lost()
        assert owner()["heartbeat"] == 1
        time.sleep(0.3)
        paths.lock.write_text(json.dumps({**owner(), "host": "far", "pid": 7, "token": "x"}))
        with pytest.raises(LockHeldError, match=r"lost the lock of .* to process 7 on far"):
            lock.raise_if_lost()


class AwayForLong(LocalLock):
    """The second look waits until the store is back, and the owner beats a moment after that."""

    def __init__(self, paths, seconds, owner_beats):
        super().__init__(paths.lock, paths.lock_guard)
        self._seconds, self._owner_beats, self._looks = seconds, owner_beats, 0

    def look(self):
        self._looks += 1
        if self._looks == 2:
            time.sleep(self._seconds)
            threading.Timer(0.1, self._owner_beats).start()
        return super().look()


def test_a_store_that_is_away_while_a_lock_is_watched_does_not_make_its_owner_dead(tmp_path):
    paths = StudyPaths(tmp_path / "study")
    with StudyLock(paths, print):
        owner = json.loads(paths.lock.read_text())
    owner |= {"host": "far", "machine": "far away", "pid": 7, "token": "theirs"}
    paths.lock.write_text(json.dumps(owner))

    def beat():
        whole = tmp_path / "whole"  # a reader sees all of it or nothing, as of an owner
        whole.write_text(json.dumps(owner | {"heartbeat": 1}))
        whole.replace(paths.lock)

    lock = StudyLock(paths, print, watch_seconds=0.5)
    lock._file = AwayForLong(paths, 0.6, beat)
    with pytest.raises(LockHeldError, match="process 7 on far is running this study"), lock:
        raise AssertionError("two runs at once")
