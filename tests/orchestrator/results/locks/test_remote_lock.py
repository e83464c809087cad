import itertools
import os
import signal
import threading
import time

import pytest

from orchestrator.results.locks.lock_owner import process_start, this_process
from orchestrator.results.locks.remote_lock import RemoteLock
from orchestrator.results.locks.study_lock import StudyLock, lock_file
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import list_names, put, put_json, read_json, remove
from orchestrator.results.storage.locations import parse_place
from podium.errors import CorruptFileError, LockHeldError, StoreError
from tests.object_store import proxied
from tests.orchestrator.results.locking import held_by_another_process, race, wait_until

BEAT = 0.05
WATCH = 1.0


@pytest.fixture
def remote_paths(bucket):
    return StudyPaths(bucket / "study")


def new_lock(paths, messages, beat=BEAT, watch=WATCH):
    return StudyLock(paths, messages.append, heartbeat_seconds=beat, watch_seconds=watch)


@pytest.fixture
def run_on_s3(bucket):
    """A second process that holds the lock of a study in the bucket; killed in the end."""
    with held_by_another_process(bucket / "study") as process:
        yield process


def lock_files(paths):
    return list_names(paths.lock_generations, "")


def write_foreign(paths, generation, **changes):
    """A lock of another machine, as a run there would write it."""
    with new_lock(paths, []):
        values = read_json(paths.lock_generations / lock_files(paths)[-1].replace("beat", "owner"))
    foreign = {**values, "host": "far", "machine": "far away", "pid": 1, "token": "theirs"}
    put_json(paths.lock_generations / f"{generation:06d}.owner.json", {**foreign, **changes})


def test_the_lock_names_its_owner_while_held_and_is_free_afterwards(remote_paths, messages):
    with new_lock(remote_paths, messages) as lock:
        found = lock_file(remote_paths).look()
        assert found.pid == os.getpid()
        wait_until(lambda: lock_file(remote_paths).look().heartbeat > found.heartbeat + 1)
        assert lock_file(remote_paths).look().token == found.token
        lock.raise_if_lost()
    assert lock_file(remote_paths).look() is None
    assert messages == []


def test_a_lock_that_was_freed_is_taken_again_by_the_next_generation(remote_paths, messages):
    for _ in range(3):
        with new_lock(remote_paths, messages, beat=BEAT):
            wait_until(lambda: any("beat" in name for name in lock_files(remote_paths)))
    left = lock_files(remote_paths)
    assert left == ["000003.beat.json", "000003.owner.json", "000003.released.json"]
    assert messages == []


def test_a_second_run_is_refused_and_learns_the_owner_of_the_lock(bucket, messages, run_on_s3):
    paths = StudyPaths(bucket / "study")
    message = rf"study\?.* is locked: process {run_on_s3.pid} on .+ is running this study"
    with pytest.raises(LockHeldError, match=message), new_lock(paths, messages):
        raise AssertionError("two runs at once")
    run_on_s3.send_signal(signal.SIGSTOP)
    with pytest.raises(LockHeldError, match=message), new_lock(paths, messages):
        raise AssertionError("a stopped owner is still the owner")
    assert messages == []


def test_a_killed_owner_on_this_machine_is_replaced_without_waiting(bucket, messages, run_on_s3):
    paths = StudyPaths(bucket / "study")
    run_on_s3.kill()
    wait_until(lambda: process_start(run_on_s3.pid) is None)
    with new_lock(paths, messages):
        assert lock_file(paths).look().pid == os.getpid()
    assert messages == []  # nothing was watched


def test_a_lock_of_another_machine_that_does_not_move_is_taken_over(remote_paths, messages):
    write_foreign(remote_paths, 7)
    with new_lock(remote_paths, messages) as lock:
        assert lock_file(remote_paths).look().host != "far"
        assert [name for name in lock_files(remote_paths) if "owner" in name] == [
            "000008.owner.json"
        ]
        lock.raise_if_lost()
    (message,) = messages
    assert (
        "belongs to process 1 on far, which cannot be seen from here; checking for 1 s" in message
    )


def test_a_lock_of_another_machine_that_moves_is_refused(remote_paths, messages):
    write_foreign(remote_paths, 7)
    stop, beats = threading.Event(), itertools.count(1)

    def beat():
        while not stop.wait(BEAT):
            put_json(
                remote_paths.lock_generations / "000007.beat.json", {"heartbeat": next(beats)}
            )

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        with (
            pytest.raises(LockHeldError, match="process 1 on far is running this study"),
            new_lock(remote_paths, messages, watch=30.0),
        ):
            raise AssertionError("two runs at once")
    finally:
        stop.set()
        thread.join()
    assert lock_file(remote_paths).look().token == "theirs"


def test_a_lock_of_another_machine_that_is_freed_while_watched_is_taken(remote_paths, messages):
    write_foreign(remote_paths, 7)
    released = remote_paths.lock_generations / "000007.released.json"
    threading.Timer(BEAT, lambda: put_json(released, {})).start()
    with new_lock(remote_paths, messages, watch=30.0):
        assert lock_file(remote_paths).look().pid == os.getpid()


def test_of_many_runs_that_find_a_dead_owner_one_gets_the_lock(bucket):
    paths = StudyPaths(bucket / "study")
    write_foreign(paths, 7, machine=lock_owner_here(paths).machine, process_start="dead")
    assert len(race(paths)) == 1


def lock_owner_here(paths):
    with new_lock(paths, []):
        return lock_file(paths).look()


def test_an_owner_learns_that_another_run_took_its_lock_and_leaves_it_alone(
    remote_paths, messages
):
    with new_lock(remote_paths, messages) as lock:
        write = {**read_json(remote_paths.lock_generations / "000001.owner.json"), "host": "far"}
        put_json(
            remote_paths.lock_generations / "000002.owner.json", {**write, "pid": 7, "token": "x"}
        )
        wait_until(lambda: messages)
        with pytest.raises(LockHeldError, match=r"lost the lock of .*/study.* to process 7 on"):
            lock.raise_if_lost()
    assert lock_file(remote_paths).look().token == "x"
    assert len(messages) == 1


def test_an_owner_learns_that_its_lock_was_deleted(remote_paths, messages):
    with new_lock(remote_paths, messages) as lock:
        remove(remote_paths.lock_generations / "000001.owner.json")
        wait_until(lambda: messages)
        with pytest.raises(LockHeldError, match="was deleted"):
            lock.raise_if_lost()


def test_a_run_that_was_stopped_for_long_asks_the_store_before_it_writes(remote_paths, messages):
    with new_lock(remote_paths, messages, beat=1000.0, watch=0.6) as stopped:
        stopped.raise_if_lost()  # young enough to be believed
        time.sleep(0.4)  # as SIGSTOP: no heartbeat meanwhile
        stopped.raise_if_lost()
        assert lock_file(remote_paths).look().heartbeat == 1  # it asked, and was seen to live
        time.sleep(0.4)
        write = read_json(remote_paths.lock_generations / "000001.owner.json")
        put_json(remote_paths.lock_generations / "000002.owner.json", {**write, "host": "far"})
        with pytest.raises(LockHeldError, match="lost the lock"):
            stopped.raise_if_lost()


def test_a_run_that_was_late_to_take_over_loses_to_a_newer_generation(remote_paths):
    write_foreign(remote_paths, 9)
    late = RemoteLock(remote_paths.lock_generations)
    real, calls = late._newest, itertools.count()
    # What it saw first is old: generation 3 was newest then, and has been swept since.
    late._newest = lambda: (3, True) if next(calls) == 0 else real()
    assert late.take(this_process(), None).host == "far"
    assert [name for name in lock_files(remote_paths) if "owner" in name][
        -1
    ] == "000009.owner.json"
    assert "000004.owner.json" not in lock_files(remote_paths)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("000004.owner.json", b"{", "is not valid JSON"),
        ("000004.owner.json", b"", "is not valid JSON"),
        ("000004.owner.json", b"{}", "is not a lock: it must hold .*; delete it if no run"),
        ("000002.beat.json", b'{"heartbeat": "x"}', "is not a heartbeat; delete it if no run"),
    ],
)
def test_a_damaged_lock_is_named_and_not_taken(remote_paths, messages, name, text, message):
    write_foreign(remote_paths, 2)
    put(remote_paths.lock_generations / name, text)
    with (
        pytest.raises(CorruptFileError, match=rf"{name}.* {message}"),
        new_lock(remote_paths, messages),
    ):
        raise AssertionError("took a damaged lock")


def test_files_of_others_in_the_folder_of_the_lock_do_not_matter(remote_paths, messages):
    for name in ("notes.json", "1.owner.json.bak", "x.owner.json"):
        put(remote_paths.lock_generations / name, b"hello")
    with new_lock(remote_paths, messages):
        assert lock_file(remote_paths).look().pid == os.getpid()
    assert "notes.json" in lock_files(remote_paths)


def test_a_heartbeat_that_cannot_be_written_is_reported_once_and_continues(s3_service, messages):
    with proxied(s3_service) as (proxy, bucket):
        paths = StudyPaths(bucket / "study")
        with new_lock(paths, messages) as lock:
            proxy.fault = lambda method, path: "reset" if method == "PUT" else None
            wait_until(lambda: messages)
            time.sleep(5 * BEAT)
            (failing,) = messages
            assert "heartbeat of the study's lock fails: cannot write s3://" in failing
            proxy.fault = lambda method, path: None
            wait_until(lambda: len(messages) == 2)
            assert messages[1] == "the heartbeat of the study's lock is written again"
            lock.raise_if_lost()
        assert lock_file(paths).look() is None


def test_a_store_that_cannot_be_reached_is_a_store_error(s3_service):
    paths = StudyPaths(parse_place(f"s3://absent/x?scheme=http&endpoint_override={s3_service}"))
    with pytest.raises(StoreError, match="there is no such bucket"), StudyLock(paths, print):
        raise AssertionError("locked nothing")


def test_a_run_that_ends_because_the_store_is_away_ends_at_once(s3_service, messages):
    with proxied(s3_service) as (proxy, bucket):
        started = time.monotonic()
        with (  # noqa: PT012
            pytest.raises(StoreError, match="of the run"),
            new_lock(StudyPaths(bucket / "study"), messages),
        ):
            proxy.fault = lambda method, path: "reset"
            raise StoreError("of the run")
        assert time.monotonic() - started < 30
