"""Locks of parts of a study: who may run beside whom, on a disk and in a bucket."""

import json
import threading

import pytest

from orchestrator.results.locks.study_lock import StudyLock, lock_file, lock_owners
from orchestrator.results.locks.turns import turn
from orchestrator.results.records.runs import WHOLE, Part
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import put_json, read_json
from podium.errors import LockHeldError
from tests.orchestrator.results.locking import wait_until

WATCH = 0.5
FIRST, SECOND = Part(1, 2), Part(2, 2)


@pytest.fixture(params=["local", "s3"])
def study(request, tmp_path):
    folder = tmp_path if request.param == "local" else request.getfixturevalue("bucket")
    return StudyPaths(folder / "study")


def lock_of(study, part, messages=None):
    say = print if messages is None else messages.append
    return StudyLock(study, say, part, heartbeat_seconds=0.02, watch_seconds=WATCH)


def make_foreign(study, part):
    """Leave the lock of a part as a run on another machine has it; returns its file."""
    place = lock_file(study, part).place
    is_file = place.suffix == ".json"
    with lock_of(study, part):
        values = read_json(place if is_file else place / "000001.owner.json")
    file = place if is_file else place / "000009.owner.json"
    foreign = {"host": "far", "machine": "far away", "pid": 1, "token": "theirs"}
    put_json(file, values | foreign)
    return file


def test_runs_of_two_parts_hold_a_lock_each_and_see_each_other(study):
    with lock_of(study, FIRST) as first, lock_of(study, SECOND) as second:
        assert lock_owners(study).keys() == {FIRST, SECOND}
        assert first.others().keys() == {SECOND}
        assert second.others().keys() == {FIRST}
        first.raise_if_lost()
        second.raise_if_lost()
    assert lock_owners(study) == {}


@pytest.mark.parametrize(
    ("held", "wanted", "told"),
    [
        (FIRST, FIRST, "is running part 1/2 of this study; wait until it ends, or stop it$"),
        (FIRST, WHOLE, "is running part 1/2 of this study; wait until it ends, or stop it$"),
        (WHOLE, SECOND, "is running this study; wait until it ends, or stop it$"),
        (FIRST, Part(3, 4), "overlap: run a part i/2, not 3/4$"),
        (Part(3, 4), SECOND, "overlap: run a part i/4, not 2/2$"),
    ],
)
def test_runs_that_may_have_the_same_blocks_are_refused(study, held, wanted, told):
    with lock_of(study, held):
        with pytest.raises(LockHeldError, match=told), lock_of(study, wanted):
            raise AssertionError("two runs of one block")
        assert lock_owners(study).keys() == {held}, "who was refused leaves nothing behind"
    with lock_of(study, wanted):
        assert lock_owners(study).keys() == {wanted}


@pytest.mark.parametrize("wanted", [FIRST, WHOLE, Part(3, 4)])
def test_a_part_of_another_machine_that_is_silent_is_taken_over(study, wanted):
    make_foreign(study, FIRST)
    messages = []
    with lock_of(study, wanted, messages) as lock:
        assert lock_owners(study).keys() == {wanted}
        lock.raise_if_lost()
    (message,) = messages
    assert "belongs to process 1 on far, which cannot be seen from here; checking" in message


@pytest.mark.parametrize("wanted", [FIRST, WHOLE, Part(3, 4)])
def test_a_part_of_another_machine_that_beats_is_left_alone(study, wanted):
    file = make_foreign(study, FIRST)
    stop, count = threading.Event(), 0

    def beat():
        nonlocal count
        while not stop.wait(0.05):
            count += 1
            if file.name.endswith(".owner.json"):
                put_json(file.parent / "000009.beat.json", {"heartbeat": count})
            else:
                put_json(file, read_json(file) | {"heartbeat": count})

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        with (
            pytest.raises(LockHeldError, match="process 1 on far is running part 1/2"),
            lock_of(study, wanted),
        ):
            raise AssertionError("two runs of one block")
    finally:
        stop.set()
        thread.join()
    assert lock_owners(study).keys() == {FIRST}


def test_a_part_that_is_left_for_dead_learns_that_the_whole_study_was_taken(tmp_path):
    """As one that was stopped for long on another machine, and goes on."""
    study = StudyPaths(tmp_path / "study")
    with lock_of(study, FIRST) as lock:
        file = study.parts / "1-of-2.json"
        file.write_text(json.dumps(read_json(file) | {"machine": "far away", "token": "other"}))
        wait_until(lambda: lock._lost)
        with lock_of(study, WHOLE), pytest.raises(LockHeldError, match="lost the lock"):
            lock.raise_if_lost()


def test_the_lock_of_a_part_can_be_freed_before_its_run_ends(study):
    with lock_of(study, FIRST) as lock:
        lock.release()
        with lock_of(study, WHOLE):
            pass


def test_turns_are_taken_one_after_the_other(study):
    order = []

    def wait_for_turn():
        with turn(study, order.append, watch_seconds=WATCH):
            order.append("second")

    thread = threading.Thread(target=wait_for_turn)
    with turn(study, order.append, watch_seconds=WATCH):
        thread.start()
        wait_until(lambda: order)
        order.append("first")
    thread.join()
    said, *order = order
    assert "is starting, ending or compacting a part of this study" in said
    assert order == ["first", "second"]


def test_of_many_that_want_parts_and_the_whole_no_two_have_the_same_blocks(study):
    """Whoever gets a lock keeps it until all have tried."""
    wanted = [WHOLE, FIRST, SECOND, FIRST, SECOND, Part(1, 3), WHOLE, Part(3, 4)]
    start, end, won, refused = threading.Barrier(len(wanted)), threading.Event(), [], []

    def run(part):
        start.wait()
        try:
            with lock_of(study, part):
                won.append(part)
                end.wait(60)
        except LockHeldError:
            refused.append(part)

    threads = [threading.Thread(target=run, args=(part,)) for part in wanted]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(won) + len(refused) == len(wanted), 60)
    end.set()
    for thread in threads:
        thread.join()
    assert len(won) == len(set(won)), "a part has one run"
    assert len({part.of for part in won}) <= 1, "the parts are of one number"
    assert lock_owners(study) == {}
