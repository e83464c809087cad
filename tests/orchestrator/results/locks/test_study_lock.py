"""The lock of a study on a disk and in a bucket."""

import json
import os
import signal
import threading
import time
from dataclasses import asdict

import pytest

from podium.errors import CorruptFileError, LockHeldError, StoreError
from podium.orchestrator.results.locks import study_lock as lock_module
from podium.orchestrator.results.locks.study_lock import (
    StudyLock,
    lock_owner,
    machine_id,
    process_start,
    this_process,
)
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import (
    list_files,
    put,
    put_if_absent,
    read_bytes,
    remove,
)
from tests.object_store import proxied
from tests.orchestrator.results.locking import held_by_another_process, race, wait_until

BEAT = 0.05
WATCH = 0.5
FOREIGN = {"host": "far", "machine": "far away", "pid": 1, "token": "theirs"}


@pytest.fixture
def messages():
    """What a lock says, in order."""
    return []


@pytest.fixture(params=["disk", "bucket"])
def paths(request, tmp_path):
    """Paths of a results folder that is not there yet."""
    if request.param == "disk":
        return StudyPaths(tmp_path / "study")
    return StudyPaths(request.getfixturevalue("bucket") / "study")


@pytest.fixture
def disk(tmp_path):
    return StudyPaths(tmp_path / "study")


@pytest.fixture
def other_run(paths):
    """A second process that holds the lock; killed in the end."""
    with held_by_another_process(paths.folder) as process:
        yield process


@pytest.fixture(autouse=True)
def seconds(monkeypatch):
    """Sets the times between two heartbeats, and of the watch on another machine's lock."""

    def set_seconds(beat=BEAT, watch=WATCH):
        monkeypatch.setattr(lock_module, "_HEARTBEAT_SECONDS", beat)
        monkeypatch.setattr(lock_module, "_WATCH_SECONDS", watch)

    set_seconds()
    return set_seconds


def new_lock(paths, messages):
    return StudyLock(paths, messages.append)


def lock_file(paths):
    """The lock that counts."""
    return list_files(paths.locks, ".json")[-1]


def owner(paths):
    return json.loads(read_bytes(lock_file(paths)))


def edit(paths, **changes):
    """Replace values in the lock, as its owner on another machine would: whole."""
    put(lock_file(paths), json.dumps({**owner(paths), **changes}).encode())


def leave_foreign_lock(paths, **changes):
    """A lock of another machine, as a run there would write it."""
    values = {**asdict(this_process()), **FOREIGN, **changes}
    assert put_if_absent(paths.lock(1), json.dumps(values).encode())


def overtake(paths):
    """Another machine takes the lock, as if no heartbeat had been seen."""
    assert put_if_absent(paths.lock(2), json.dumps({**owner(paths), **FOREIGN}).encode())


def assert_refused(lock, message, error=LockHeldError):
    with pytest.raises(error, match=message), lock:
        raise AssertionError("two runs at once")


def heartbeat_threads():
    return [thread for thread in threading.enumerate() if thread.name == "study-lock"]


def test_the_lock_names_its_owner_while_held_and_is_free_afterwards(paths, messages):
    with pytest.raises(KeyError, match="stop"), new_lock(paths, messages) as lock:  # noqa: PT012
        found = owner(paths)
        assert found["pid"] == os.getpid()
        assert found["process_start"] == process_start(os.getpid())
        wait_until(lambda: owner(paths)["heartbeat"] > found["heartbeat"] + 1)
        assert owner(paths)["token"] == found["token"]
        lock.raise_if_lost()
        assert len(heartbeat_threads()) == 1
        assert_refused(new_lock(paths, messages), f"process {os.getpid()} on")
        raise KeyError("stop")
    assert lock_owner(paths) is None
    assert heartbeat_threads() == []
    with new_lock(paths, messages):
        assert owner(paths)["token"] != found["token"]
    assert messages == []


def test_a_second_run_is_refused_and_learns_the_owner_of_the_lock(paths, messages, other_run):
    before = owner(paths)["token"]
    message = rf"study(\?.*)? is locked: process {other_run.pid} on .+ is running this study"
    assert_refused(new_lock(paths, messages), message)
    other_run.send_signal(signal.SIGSTOP)  # a stopped owner is still the owner
    assert_refused(new_lock(paths, messages), message)
    assert owner(paths)["token"] == before
    assert heartbeat_threads() == []
    assert messages == []


@pytest.mark.parametrize("end", ["killed", "its id is of another process"])
def test_a_dead_owner_on_this_machine_is_replaced_without_waiting(paths, messages, other_run, end):
    if end == "killed":
        other_run.kill()  # and not reaped: its id is still taken
        wait_until(lambda: process_start(other_run.pid) is None)
    else:
        other_run.send_signal(signal.SIGSTOP)
        edit(paths, process_start="12")
    with new_lock(paths, messages):
        assert owner(paths)["pid"] == os.getpid()
    assert messages == []  # nothing was watched


def test_the_lock_deletes_what_its_owner_left_that_was_killed_while_it_wrote(disk, messages):
    leave_foreign_lock(disk, machine=machine_id(), process_start="dead")
    left, other = (disk.locks / f".00000{number}.json.0123.tmp" for number in (1, 2))
    for path in (left, other):
        path.touch()
    with new_lock(disk, messages):
        assert not left.exists()
        assert other.exists(), "another run may be writing it just now"


def test_a_lock_of_another_machine_that_does_not_move_is_taken_over(paths, messages):
    leave_foreign_lock(paths)
    with new_lock(paths, messages) as lock:
        assert owner(paths)["host"] != "far"
        lock.raise_if_lost()
    (message,) = messages
    assert (
        "belongs to process 1 on far, which cannot be seen from here; checking for 0.5" in message
    )


def test_a_lock_of_another_machine_that_moves_is_refused_and_taken_once_it_is_free(
    paths, messages, seconds
):
    seconds(watch=30.0)
    leave_foreign_lock(paths)
    threading.Timer(BEAT, edit, (paths,), {"heartbeat": 7}).start()
    assert_refused(new_lock(paths, messages), "process 1 on far is running this study")
    assert owner(paths)["token"] == "theirs"
    threading.Timer(BEAT, put, (paths.lock(1), b"null")).start()
    with new_lock(paths, messages):
        assert owner(paths)["pid"] == os.getpid()


def test_of_many_runs_that_find_a_dead_owner_one_gets_the_lock(paths):
    leave_foreign_lock(paths, machine=machine_id(), pid=os.getpid(), process_start="dead")
    assert len(race(paths)) == 1


def given_anew(paths):
    """The lock of another machine, under the number of the owner before."""
    remove(paths.lock(1))
    leave_foreign_lock(paths)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (overtake, r"lost the lock of .*/study.* to process 1 on far"),
        (given_anew, r"lost the lock of .*/study.* to process 1 on far"),
        (lambda paths: remove(paths.lock(1)), r"lost the lock of its study in .*/lock"),
    ],
    ids=["taken", "taken under its number", "deleted"],
)
def test_an_owner_that_lost_its_lock_learns_it_and_neither_frees_nor_writes_it(
    paths, messages, change, message
):
    with new_lock(paths, messages) as lock:
        change(paths)
        left = lock_owner(paths)
        wait_until(lambda: messages)
        with pytest.raises(LockHeldError, match=message):
            lock.raise_if_lost()
        wait_until(lambda: not heartbeat_threads())
    assert lock_owner(paths) == left
    assert len(messages) == 1


def test_a_store_that_is_away_fails_heartbeats_and_delays_no_end_of_a_run(s3_service, messages):
    with proxied(s3_service) as (proxy, bucket):
        paths = StudyPaths(bucket / "study")
        with new_lock(paths, messages) as lock:
            proxy.fault = lambda method, path: "reset" if method == "PUT" else None
            time.sleep(5 * BEAT)
            before = owner(paths)["heartbeat"]
            proxy.fault = lambda method, path: None
            wait_until(lambda: owner(paths)["heartbeat"] > before)
            lock.raise_if_lost()
        assert lock_owner(paths) is None
        started = time.monotonic()
        with pytest.raises(StoreError, match="of the run"), new_lock(paths, messages):  # noqa: PT012
            proxy.fault = lambda method, path: "reset"
            raise StoreError("of the run")
        assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Invalid JSON"),
        ("{}", r"host: (Field required|Missing required)"),
        ({"heartbeat": "x"}, "heartbeat: Input should be a valid integer; got 'x'"),
    ],
)
def test_a_damaged_lock_is_named_and_not_taken(paths, messages, text, message):
    if isinstance(text, dict):
        leave_foreign_lock(paths, **text)
        text = json.dumps(owner(paths))
    put(paths.lock(1), text.encode())
    named = rf"lock/000001\.json.* is no lock, to be deleted if no run .* alive: {message}"
    assert_refused(new_lock(paths, messages), named, CorruptFileError)


def test_a_run_that_was_stopped_for_long_asks_before_it_writes(paths, messages, seconds):
    seconds(beat=1000.0, watch=0.8)
    with new_lock(paths, messages) as lock:
        lock.raise_if_lost()  # young enough to be believed
        assert owner(paths)["heartbeat"] == 0
        time.sleep(0.5)  # as SIGSTOP: no heartbeat meanwhile
        lock.raise_if_lost()
        assert owner(paths)["heartbeat"] == 1  # it asked, and was seen to live
        time.sleep(0.5)
        overtake(paths)
        with pytest.raises(LockHeldError, match=r"lost the lock of .* to process 1 on far"):
            lock.raise_if_lost()


def test_a_store_that_is_away_while_a_lock_is_watched_does_not_make_its_owner_dead(
    paths, messages, monkeypatch
):
    leave_foreign_lock(paths, pid=7)
    real, looks = lock_module.lock_owner, []

    def away_for_long(paths):
        """The second look waits until the store is back; the owner beats a moment later."""
        looks.append(paths)
        if len(looks) == 2:
            time.sleep(0.6)
            threading.Timer(0.1, edit, (paths,), {"heartbeat": 1}).start()
        return real(paths)

    monkeypatch.setattr(lock_module, "lock_owner", away_for_long)
    assert_refused(new_lock(paths, messages), "process 7 on far is running this study")
