"""Asks and attempts of searches that are over, in one file each: nothing is lost or doubled."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from orchestrator.results.records.asks import Ask, gather_asks, read_asks, remove_asks, write_ask
from orchestrator.results.records.attempts import (
    Attempt,
    gather_attempts,
    read_attempt,
    read_attempts,
    read_attempts_of_trial,
    write_attempt,
)
from orchestrator.results.storage.files import list_below, list_folders, list_names
from orchestrator.results.trial_files.gather_trials import (
    gather_all,
    gather_search,
    withdraw_trials,
)
from podium.errors import CorruptFileError, StoreError
from tests.orchestrator.results.file_operations import (
    SOME_OR_ALL,
    FileOperations,
    ended_stores,
)
from tests.orchestrator.results.store_rows import change_json, commit, new_store, row

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TRIALS = 4  # of two searches in turn, the second with two attempts each, and one that has no row


@pytest.fixture(params=["disk", "bucket", "memory_bucket"])
def folder(request, tmp_path):
    return tmp_path if request.param == "disk" else request.getfixturevalue(request.param)


def ask_of(number):
    return Ask(
        search=f"s{number % 2}",
        index=number // 2,
        trial_id=f"t{number:03d}",
        config_hash="c",
        hyperparameters={"margin": number / 8, "proxies": number},
        source="sampler" if number > 1 else "default",
    )


def attempt_at(number, which=1, **changes):
    ended = Attempt(
        trial_id=f"t{number:03d}",
        search=f"s{number % 2}",
        number=which,
        node="n",
        pid=number,
        device="cpu",
        started_at=START,
        ended_at=START + timedelta(seconds=which),
        cause="complete",
        seconds=float(which),
    )
    return replace(ended, **changes)


def store_of(folder, trials=TRIALS):
    store = new_store(folder)
    for number in range(trials):
        write_ask(store, ask_of(number))
        for which in range(1, 2 + number % 2):
            write_attempt(store, attempt_at(number, which))
        commit(store, row(number))
    write_attempt(store, attempt_at(99, ended_at=None, cause=None))
    return store


def all_records(store):
    return read_asks(store), attempts_of(store)


def attempts_of(store):
    return sorted(read_attempts(store), key=lambda attempt: (attempt.trial_id, attempt.number))


def loose_files(store):
    places = (*list_below(store.asks, ".json"), *list_below(store.attempts, ".json"))
    return [f"{place.parent.name}/{place.name}" for place in places]


def gather_searches(store, check=lambda: None):
    """As a run does whose searches are all over."""
    for search, asks in read_asks(store).items():
        gather_search(store, search, asks, check)


def test_the_end_of_a_run_leaves_one_file_of_each_search(folder):
    store = store_of(folder)
    before = all_records(store)
    gather_all(store)
    assert all_records(store) == before
    files = ["s0.json", "s1.json"]
    assert list_names(store.asks, ".json") == list_names(store.attempts, ".json") == files
    assert list_folders(store.asks) == []
    assert loose_files(store) == []


def test_gathering_twice_changes_nothing(tmp_path):
    store = store_of(tmp_path)
    gather_all(store)
    before = store.gathered_asks("s0").stat().st_ino, store.gathered_attempts("s0").stat().st_ino
    gather_all(store)
    after = store.gathered_asks("s0").stat().st_ino, store.gathered_attempts("s0").stat().st_ino
    assert after == before


def test_an_extended_search_has_single_asks_beside_the_gathered_ones(folder):
    store = store_of(folder)
    gather_all(store)
    for number in range(TRIALS, 2 * TRIALS):
        assert write_ask(store, ask_of(number))
        write_attempt(store, attempt_at(number))
        commit(store, row(number))
    before = all_records(store)
    assert [ask.index for ask in before[0]["s1"]] == [0, 1, 2, 3]
    assert len(before[1]) == 3 * TRIALS // 2 + TRIALS + 1
    gather_all(store)
    assert all_records(store) == before
    assert loose_files(store) == []


def test_an_ask_of_a_gathered_index_does_not_count_and_goes_with_the_next_gathering(folder):
    store = store_of(folder)
    before = read_asks(store)
    gather_all(store)
    write_ask(store, replace(ask_of(0), trial_id="other"))
    assert read_asks(store) == before
    gather_all(store)
    assert loose_files(store) == []
    assert read_asks(store) == before


def test_what_a_killed_gathering_left_is_found_once_and_goes_with_the_next(tmp_path):
    store = store_of(tmp_path)
    before = all_records(store)
    single = {path: path.read_bytes() for path in store.folder.glob("a*/*/*.json")}
    gather_all(store)
    for path, content in random.Random(0).sample(sorted(single.items()), 5):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    assert all_records(store) == before
    gather_all(store)
    assert all_records(store) == before
    assert loose_files(store) == []


def test_a_worker_that_was_stopped_may_write_its_attempt_again(folder):
    store = store_of(folder)
    before = attempts_of(store)
    gather_all(store)
    write_attempt(store, attempt_at(0, ended_at=None, cause=None))
    write_attempt(store, attempt_at(1, 2, cause="stopped", seconds=99.0))
    assert attempts_of(store) == before
    gather_all(store)
    assert attempts_of(store) == before


def test_the_end_of_an_attempt_counts_though_its_beginning_was_gathered(folder):
    """A worker is told that its trial was pruned after the row was committed."""
    store = store_of(folder)
    write_attempt(store, attempt_at(0, ended_at=None, cause=None))
    gather_all(store)
    ended = attempt_at(0, cause="stopped")
    write_attempt(store, ended)
    assert attempts_of(store)[0] == ended
    gather_all(store)
    assert attempts_of(store)[0] == ended
    assert loose_files(store) == []


def test_while_workers_run_attempts_without_an_end_stay(tmp_path):
    store = store_of(tmp_path)
    write_attempt(store, attempt_at(0, ended_at=None, cause=None))
    gather_searches(store)
    assert loose_files(store) == ["s0/t000-1.json", "s1/t099-1.json"]


def test_a_run_that_lost_its_study_gathers_nothing(tmp_path):
    def lost():
        raise StoreError("another run has it")

    store = store_of(tmp_path)
    before = loose_files(store)
    with pytest.raises(StoreError, match="another run has it"):
        gather_searches(store, lost)
    assert loose_files(store) == before
    assert list_names(store.asks, ".json") == list_names(store.attempts, ".json") == []


@pytest.mark.parametrize("kind", ["asks", "attempts"])
def test_what_another_driver_gathered_meanwhile_is_not_replaced_by_less(folder, kind):
    store, later = store_of(folder), []
    asks = read_asks(store)["s0"]

    def held_up():
        if later:
            return
        write_ask(store, ask_of(4))
        write_attempt(store, attempt_at(4))
        commit(store, row(4))
        later.append(all_records(store))
        gather_searches(store)

    gathers = {
        "asks": lambda: gather_asks(store, "s0", asks, held_up),
        "attempts": lambda: gather_attempts(store, "s0", may_run=True, check=held_up),
    }
    with pytest.raises(StoreError, match=rf"{kind}/s0\.json.* was replaced by another process"):
        gathers[kind]()
    assert [all_records(store)] == later


def test_a_withdrawn_trial_counts_its_next_attempt_from_those_before(folder):
    store = store_of(folder)
    before = all_records(store)
    gather_all(store)
    withdraw_trials(store, {"t001": "s1"})
    assert all_records(store) == before
    assert read_attempts_of_trial(store, "s1", "t001") == (attempt_at(1), attempt_at(1, 2))
    gather_all(store)  # as the end of a run does: the trial has no row
    write_attempt(store, attempt_at(1, 3))
    commit(store, row(1))
    gather_all(store)
    again = [attempt.number for attempt in read_attempts(store) if attempt.trial_id == "t001"]
    assert again == [1, 2, 3]
    assert loose_files(store) == []


def test_an_attempt_that_cannot_be_read_stays_where_it_is(tmp_path):
    store = store_of(tmp_path)
    damaged = store.attempt("s1", "t001", 2)
    damaged.write_bytes(b"{")
    gather_all(store)
    assert damaged.read_bytes() == b"{"
    with pytest.raises(CorruptFileError, match=r"t001-2\.json is not valid JSON"):
        read_attempt(store, "s1", "t001", 2)


def test_asks_of_which_one_is_missing_are_not_gathered(tmp_path):
    store = store_of(tmp_path)
    store.ask("s1", 0).unlink()
    with pytest.raises(CorruptFileError, match=r"s1/000000.json is missing"):
        gather_all(store)
    assert "s1/000001.json" in str(list_below(store.asks, ".json"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": 1}, "must hold asks, and nothing else"),
        ({"asks": {}}, "must hold asks, and nothing else"),
        ({"asks": [1]}, "is no ask: Input should be an object; got 1"),
    ],
)
def test_gathered_asks_that_are_something_else_are_named(tmp_path, change, message):
    store = store_of(tmp_path)
    gather_all(store)
    change_json(store.gathered_asks("s0"), **change)
    with pytest.raises(CorruptFileError, match=rf"asks/s0\.json {message}"):
        read_asks(store)


def test_gathered_asks_of_another_search_are_named(tmp_path):
    store = store_of(tmp_path)
    gather_all(store)
    store.gathered_asks("s0").rename(store.gathered_asks("s2"))
    with pytest.raises(CorruptFileError, match=r"s2\.json holds ask 0 of search s0 where it must"):
        read_asks(store)


def test_asks_that_go_are_whole_at_any_moment(tmp_path):
    store = store_of(tmp_path, 12)
    asks = read_asks(store)["s0"]
    gather_asks(store, "s0", asks[:3])
    for _ in store.ask_folder("s0").glob("*.json"):
        last = sorted(store.ask_folder("s0").glob("*.json"))[-1]
        last.unlink()
        assert read_asks(store)["s0"] == asks[: int(last.stem)]
    remove_asks(store, "s0")
    assert list(read_asks(store)) == ["s1"]


@SOME_OR_ALL
def test_killed_at_any_file_operation_nothing_is_lost_or_doubled(tmp_path, monkeypatch, are_all):
    before = all_records(store_of(tmp_path / "before"))
    for store in ended_stores(
        tmp_path / "ended", monkeypatch, store_of, gather_all, are_all=are_all
    ):
        assert all_records(store) == before
        gather_all(store)
        assert all_records(store) == before
        assert loose_files(store) == []


def test_readers_see_the_same_records_between_any_two_file_operations(tmp_path, monkeypatch):
    store = store_of(tmp_path)
    before = all_records(store)

    def look():
        assert all_records(store) == before

    with monkeypatch.context() as patch:
        operations = FileOperations(patch, between=look)
        gather_all(store)
    assert operations.count > 20
