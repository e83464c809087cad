import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import put, read_bytes
from podium.orchestrator.results.trial_files.gather_trials import gather_all, withdraw_trials
from podium.orchestrator.results.trial_files.reader import Reader
from tests.orchestrator.results.extended_stores import plainly, rows_of
from tests.orchestrator.results.file_operations import (
    FULL,
    SOME_OR_ALL,
    FileOperations,
    ended_stores,
)
from tests.orchestrator.results.store_frames import assert_same_frames
from tests.orchestrator.results.store_rows import (
    WIDER,
    check_store,
    commit,
    new_store,
    row,
)

# The first is gathered with another one that stays, the second has a file of its own.
GONE = {"t001": "s1", "t005": "s1"}
TRIALS = 6


def extended_store(folder):
    """Four trials gathered in the old schema of a study, and two loose in the new one."""
    store = commit(new_store(folder), *(row(index) for index in range(4)))
    gather_all(store)
    new_store(folder, WIDER)
    return commit(store, row(4, WIDER), row(5, WIDER), schema=WIDER)


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
    assert check_store(store) == 0
    assert list(store.trials.rglob("*.parquet")) == []


def test_a_checkpoint_that_a_kill_left_does_not_resume_the_trial(tmp_path):
    store = commit(new_store(tmp_path), row(0), row(1))
    for trial in ("t000", "t001"):
        put(store.checkpoint(trial), b"state")
    withdraw_trials(store, {"t000": "s0"})
    assert read_bytes(store.checkpoint("t000")) is None
    assert read_bytes(store.checkpoint("t001")) == b"state"


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
def test_ended_at_any_file_operation_no_other_row_is_lost_and_the_study_goes_on(
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
    store = commit(new_store(bucket), row(0), row(1), row(2))
    gather_all(store)
    commit(store, row(3), row(4), row(5))
    reader = Reader(store.folder)
    before = reader.trials().collect()
    withdraw_trials(store, GONE)
    left = reader.trials().collect()
    assert_frame_equal(left, before.filter(~pl.col("trial_id").is_in(list(GONE))))
    commit(store, row(1, objective=0.9), row(5, objective=0.8))
    gather_all(StudyPaths(store.folder))
    again = Reader(store.folder).trials().collect()
    assert dict(again.select("trial_id", "objective").iter_rows()) == {
        **dict(before.select("trial_id", "objective").iter_rows()),
        "t001": 0.9,
        "t005": 0.8,
    }
    assert check_store(store) == TRIALS
