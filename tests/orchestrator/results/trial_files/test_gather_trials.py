import polars as pl
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

from podium.errors import LockHeldError
from podium.orchestrator.results.storage.files import put, read_bytes
from podium.orchestrator.results.trial_files import inventory
from podium.orchestrator.results.trial_files.commit_trials import commit_trial
from podium.orchestrator.results.trial_files.gather_trials import (
    gather_all,
    gather_search,
    withdraw_trials,
)
from podium.orchestrator.results.trial_files.inventory import num_trials, take_inventory
from podium.orchestrator.results.trial_files.reader import Reader
from tests.orchestrator.results.extended_stores import TRIALS, extended_store, plainly, rows_of
from tests.orchestrator.results.file_operations import (
    FULL,
    SOME_OR_ALL,
    FileOperations,
    ended_stores,
)
from tests.orchestrator.results.store_frames import assert_same_frames
from tests.orchestrator.results.store_rows import (
    SCHEMA,
    WIDER,
    check_store,
    commit,
    gathered_file,
    new_store,
    row,
)

# The first is gathered with another one that stays, the second has a file of its own.
GONE = {"t001": "s1", "t005": "s1"}


def names(store):
    """Names of trial files by search."""
    return {
        folder.name: sorted(path.name for path in folder.iterdir())
        for folder in store.trials.iterdir()
    }


def whole_store(folder):
    return commit(new_store(folder), *(row(index) for index in range(TRIALS)))


def test_a_search_that_is_over_is_gathered_and_every_reader_finds_each_trial_once(tmp_path):
    store = whole_store(tmp_path)
    before = rows_of(store)
    gather_search(store, "s0")
    assert gathered_file(store, "s0").name.startswith("4-")
    assert len(list(store.trial_folder("s0").iterdir())) == 5, "its single rows stay"
    assert len(list(store.trial_folder("s1").iterdir())) == 3
    assert_same_frames(rows_of(store), before)
    assert plainly(store)["trial_id"].to_list() == before["trials"]["trial_id"].sort().to_list()
    assert sum(map(num_trials, take_inventory(store).values())) == check_store(store) == TRIALS


def test_a_file_that_is_replaced_while_trials_are_looked_up_is_no_damage(tmp_path, monkeypatch):
    store = whole_store(tmp_path)
    gather_search(store, "s0")
    real, replaced = inventory.needed_files, []

    def replaces_first(files):
        if not replaced:
            replaced.append("s0")
            commit(store, row(7, search="s0"))
            gather_all(store)
            inventory._trials_in.clear()  # another process gathered
        return real(files)

    monkeypatch.setattr(inventory, "needed_files", replaces_first)
    assert sum(map(num_trials, take_inventory(store).values())) == TRIALS + 1


def test_at_the_end_one_file_of_each_search_is_left(tmp_path):
    store = whole_store(tmp_path)
    before = rows_of(store)
    gather_search(store, "s0")
    commit(store, row(7))  # a final, say
    gather_all(store)
    assert {search: len(files) for search, files in names(store).items()} == {
        "search=s0": 1,
        "search=s1": 1,
    }
    files = names(store)
    gather_all(store)
    assert names(store) == files
    commit_trial(store, SCHEMA, row(7))
    assert names(store) == files, "a trial that was gathered cannot be committed again"
    found = rows_of(store)["trials"].filter(pl.col("trial_id") != "t007")
    assert found.equals(before["trials"])


def test_a_study_that_gained_columns_has_them_in_every_file_after_the_next_end(tmp_path):
    store = extended_store(tmp_path)
    before = rows_of(store)
    gather_all(store)
    assert_same_frames(rows_of(store), before)
    assert {tuple(pq.read_schema(it).names) for it in store.trials.rglob("*.parquet")} == {
        tuple(WIDER.names)
    }
    assert plainly(store)["hp.alpha"].to_list() == [None] * 5 + [0.5] * 2


def test_checkpoints_of_committed_trials_go_at_the_end_and_others_stay(tmp_path):
    store = whole_store(tmp_path)
    for trial_id in ("t000", "t001", "t099"):
        put(store.checkpoint(trial_id), b"state")
    withdraw_trials(store, {"t001": "s1"})  # of which a kill left one that must not resume it
    assert read_bytes(store.checkpoint("t001")) is None
    assert read_bytes(store.checkpoint("t000")) == b"state"
    gather_all(store)
    assert read_bytes(store.checkpoint("t000")) is None
    assert read_bytes(store.checkpoint("t099")) == b"state"


def test_what_killed_writers_left_is_deleted_at_the_end_but_of_lock_and_report(tmp_path):
    store = whole_store(tmp_path)
    folders = ("journal/s0", "trials/search=s0", "models", "embeddings", "runs", ".")
    for folder in folders:
        (store.folder / folder).mkdir(parents=True, exist_ok=True)
        (store.folder / folder / ".store.json.0123.tmp").touch()
    (store.folder / "lock").mkdir()
    others = {"lock/.000001.json.0123.tmp", ".report.html.0123.tmp"}  # which may be written now
    for name in others:
        (store.folder / name).touch()
    gather_all(store)
    assert {str(p.relative_to(store.folder)) for p in store.folder.rglob("*.tmp")} == others


def test_a_driver_that_lost_its_lock_gathers_nothing(tmp_path):
    store = whole_store(tmp_path)
    before = names(store)

    def lost():
        raise LockHeldError("lost")

    with pytest.raises(LockHeldError):
        gather_search(store, "s0", check=lost)
    assert names(store) == before


def test_a_row_that_a_thawed_driver_puts_beside_its_gathered_one_vanishes(tmp_path):
    store = whole_store(tmp_path)
    gather_all(store)
    assert not commit_trial(store, SCHEMA, row(0, objective=0.9))
    assert len(names(store)["search=s0"]) == 1
    killed = store.trial("s0", "t000")  # as one leaves it that is killed before it looks again
    other = commit(new_store(tmp_path / "other"), row(0, objective=0.9))
    killed.write_bytes(other.trial("s0", "t000").read_bytes())
    assert rows_of(store)["trials"].filter(pl.col("trial_id") == "t000")["objective"][0] == 0.0
    assert check_store(store) == TRIALS
    gather_all(store)
    assert len(names(store)["search=s0"]) == 1


@pytest.mark.parametrize("make", [whole_store, extended_store])
def test_readers_see_the_same_rows_between_any_two_file_operations(tmp_path, monkeypatch, make):
    store = make(tmp_path)
    before = rows_of(store)
    ids = before["trials"]["trial_id"].sort().to_list()

    def look():
        assert_same_frames(rows_of(store), before)
        if make is whole_store:  # plain polars reads no files with different columns
            assert plainly(store)["trial_id"].to_list() == ids

    with monkeypatch.context() as patch:
        operations = FileOperations(patch, between=look)
        gather_all(store)
    assert operations.count > 9
    look()


@SOME_OR_ALL
@pytest.mark.parametrize("error", [None, FULL], ids=["killed", "disk full"])
def test_ended_at_any_file_operation_nothing_is_lost_and_the_next_one_finishes(
    tmp_path, monkeypatch, are_all, error
):
    before = rows_of(extended_store(tmp_path))
    ends = ended_stores(
        tmp_path, monkeypatch, extended_store, gather_all, are_all=are_all, error=error
    )
    for store in ends:
        assert_same_frames(rows_of(store), before)
        assert check_store(store) == TRIALS
        gather_all(store)
        assert_same_frames(rows_of(store), before)
        assert all(len(files) == 1 for files in names(store).values())


def without(frames, gone=GONE):
    """Of the frames with a row for a trial or more."""
    return {
        name: frame.filter(~pl.col("trial_id").is_in(list(gone)))
        for name, frame in frames.items()
        if "trial_id" in frame.columns
    }


def test_rows_are_gone_gathered_or_not_and_all_others_are_what_they_were(tmp_path):
    store = extended_store(tmp_path)
    others = without(rows_of(store))
    before = sorted(store.folder.rglob("*"))
    withdraw_trials(store, {})
    assert sorted(store.folder.rglob("*")) == before
    withdraw_trials(store, GONE)
    assert_same_frames(without(rows_of(store), gone=()), others)
    assert check_store(store) == TRIALS - 2
    gather_all(store)
    assert plainly(store)["trial_id"].to_list() == sorted(others["trials"]["trial_id"])
    withdraw_trials(store, {f"t00{index}": f"s{index % 2}" for index in range(TRIALS)})
    assert check_store(store) == len(list(store.trials.rglob("*.parquet"))) == 0


def test_others_are_read_exactly_once_between_any_two_file_operations(tmp_path, monkeypatch):
    store = extended_store(tmp_path)
    gather_all(store)  # so that plain polars finds the same columns in all files
    others = without(rows_of(store))

    def look():
        frames = rows_of(store)
        assert_same_frames(without(frames), others)
        for found in (frames["trials"], plainly(store)):
            assert not found["trial_id"].is_duplicated().any()
            assert set(others["trials"]["trial_id"]) <= set(found["trial_id"])

    with monkeypatch.context() as patch:
        operations = FileOperations(patch, between=look)
        withdraw_trials(store, GONE)
    assert operations.count > 3


def left(store):
    """Those of the trials to be withdrawn that still have rows."""
    present = set(Reader(store.folder).trials().collect()["trial_id"])
    return {trial: search for trial, search in GONE.items() if trial in present}


@SOME_OR_ALL
@pytest.mark.parametrize(("is_repeated", "error"), [(True, None), (False, None), (True, FULL)])
def test_a_withdrawal_ended_at_any_file_operation_loses_no_other_row(
    tmp_path, monkeypatch, are_all, is_repeated, error
):
    def withdraw(store):
        withdraw_trials(store, GONE)

    others = without(rows_of(extended_store(tmp_path)))
    ends = ended_stores(
        tmp_path, monkeypatch, extended_store, withdraw, are_all=are_all, error=error
    )
    for store in ends:
        check_store(store)
        if is_repeated:
            withdraw_trials(store, left(store))
        rows = rows_of(store)
        assert_same_frames(without(rows, gone=GONE), others)
        gather_all(store)
        assert_same_frames(rows_of(store), rows)
        assert left(store) == {} or not is_repeated
        assert plainly(store)["trial_id"].to_list() == sorted(rows["trials"]["trial_id"])


def test_rows_on_s3_are_gone_and_come_back_as_they_are_committed_again(bucket):
    store = commit(new_store(bucket), row(0), row(1), row(3))
    gather_all(store)
    commit(store, row(5))
    reader = Reader(store.folder)
    before = reader.trials().collect()
    withdraw_trials(store, GONE)
    left = reader.trials().collect()
    assert_frame_equal(left, before.filter(~pl.col("trial_id").is_in(list(GONE))))
    commit(store, row(1, objective=0.9), row(5, objective=0.8))
    gather_all(store)
    scores = Reader(store.folder).trials().sort("trial_id").collect()["objective"]
    assert scores.to_list() == [0.0, 0.9, 3 / 7, 0.8]
    assert check_store(store) == 4
