import random
import signal

import pyarrow.parquet as pq
import pytest

from orchestrator.results.trial_files import compaction as compact_module
from orchestrator.results.trial_files.commit_trials import commit_trial
from orchestrator.results.trial_files.compaction import TRIALS_PER_ROW_GROUP, compact
from orchestrator.results.trial_files.integrity import check_store
from tests.orchestrator.results.extended_stores import TRIALS, extended_store, plainly, rows_of
from tests.orchestrator.results.file_operations import (
    FULL,
    SOME_OR_ALL,
    FileOperations,
    compact_until,
    ended_stores,
)
from tests.orchestrator.results.store_frames import assert_same_frames
from tests.orchestrator.results.store_rows import SCHEMA, WIDER, commit, new_store, row


def parquet_files(store):
    return [path.relative_to(store.folder).parts[0] for path in store.folder.rglob("*.parquet")]


def test_all_trials_go_into_one_file_and_stay_what_they_were(tmp_path):
    store = commit(new_store(tmp_path), *(row(index) for index in range(TRIALS)))
    before = rows_of(store)
    assert compact(store) == TRIALS
    assert parquet_files(store) == ["trials_segments"]
    assert_same_frames(rows_of(store), before)


def test_there_is_nothing_to_do_twice(tmp_path):
    store = commit(new_store(tmp_path), row(0))
    assert compact(store) == 1
    (path,) = store.segments.glob("*.parquet")
    before = path.stat().st_ino
    assert compact(store) == 0
    assert path.stat().st_ino == before


def test_a_store_without_trials_stays_empty(tmp_path):
    store = new_store(tmp_path)
    assert compact(store) == 0
    assert not store.segments.exists()


def test_files_of_a_smaller_schema_are_rewritten_so_that_plain_polars_reads_all(tmp_path):
    store = extended_store(tmp_path)
    before = rows_of(store)
    assert compact(store) == TRIALS - 2
    assert_same_frames(rows_of(store), before)
    assert plainly(store).columns == WIDER.names
    assert plainly(store)["hp.alpha"].to_list() == [None, None, None, 0.5, 0.5]


def test_a_compacted_file_alone_is_rewritten_when_the_study_grew(tmp_path):
    store = commit(new_store(tmp_path), row(0))
    compact(store)
    new_store(tmp_path, WIDER)
    assert compact(store) == 0
    assert plainly(store).columns == WIDER.names


def row_group_sizes(store):
    (path,) = store.segments.glob("*.parquet")
    meta = pq.read_metadata(path)
    return [meta.row_group(index).num_rows for index in range(meta.num_row_groups)]


@pytest.mark.parametrize(("most_bytes", "sizes"), [(0, [2, 2, 1]), (2**24, [TRIALS])])
def test_row_groups_are_joined_as_long_as_they_take_little_memory(
    tmp_path, monkeypatch, most_bytes, sizes
):
    assert TRIALS_PER_ROW_GROUP <= 500
    monkeypatch.setattr(compact_module, "TRIALS_PER_ROW_GROUP", 2)
    monkeypatch.setattr(compact_module, "_ROW_GROUP_BYTES", most_bytes)
    store = commit(new_store(tmp_path), *(row(index) for index in range(TRIALS)))
    before = rows_of(store)
    compact(store)
    assert row_group_sizes(store) == sizes
    assert_same_frames(rows_of(store), before)


def test_a_merge_joins_the_small_row_groups_of_segments(tmp_path, monkeypatch):
    store = new_store(tmp_path)
    for index in range(3):
        commit(store, row(index))
        compact(store)
        assert row_group_sizes(store) == [index + 1]


def test_a_compacted_trial_cannot_be_committed_again(tmp_path):
    store = commit(new_store(tmp_path), row(0, objective=0.5))
    compact(store)
    assert not commit_trial(store, SCHEMA, row(0, objective=0.9))
    assert parquet_files(store) == ["trials_segments"]
    assert plainly(store)["objective"].to_list() == [0.5]


def test_a_second_row_that_a_killed_worker_left_beside_a_compacted_one_never_counts(tmp_path):
    store = commit(new_store(tmp_path), row(0, objective=0.5))
    path = store.trial("s0", "t000")
    late = path.read_bytes()
    compact(store)
    path.write_bytes(late)
    assert len(rows_of(store)["trials"]) == 1
    assert check_store(store) == 1
    compact(store)
    assert parquet_files(store) == ["trials_segments"]


def test_readers_see_the_same_rows_between_any_two_file_operations(tmp_path, monkeypatch):
    store = extended_store(tmp_path)
    before = rows_of(store)
    with monkeypatch.context() as patch:
        operations = FileOperations(
            patch, between=lambda: assert_same_frames(rows_of(store), before)
        )
        compact(store)
    assert operations.count > 15
    assert_same_frames(rows_of(store), before)


@SOME_OR_ALL
def test_killed_at_any_file_operation_nothing_is_lost_and_the_next_one_finishes(
    tmp_path, monkeypatch, are_all
):
    before = rows_of(extended_store(tmp_path))
    for store in ended_stores(tmp_path, monkeypatch, extended_store, compact, are_all=are_all):
        assert_same_frames(rows_of(store), before)
        assert check_store(store) == TRIALS
        compact(store)
        assert_same_frames(rows_of(store), before)
        assert plainly(store)["trial_id"].to_list() == sorted(before["trials"]["trial_id"])
        assert parquet_files(store) == ["trials_segments"]
        assert list(store.segments.glob("*.tmp")) == []


@SOME_OR_ALL
def test_an_error_at_any_file_operation_is_raised_and_loses_nothing(
    tmp_path, monkeypatch, are_all
):
    before = rows_of(extended_store(tmp_path))
    for store in ended_stores(
        tmp_path, monkeypatch, extended_store, compact, are_all=are_all, error=FULL
    ):
        assert_same_frames(rows_of(store), before)
        compact(store)
        assert plainly(store)["trial_id"].to_list() == sorted(before["trials"]["trial_id"])


def test_a_process_killed_at_random_lines_loses_nothing(tmp_path):
    # Three of the lines that a compaction runs through, seeded; each is a process of its own.
    total = int(compact_until(extended_store(tmp_path / "whole"), 0).stdout)
    for line in random.Random(7).sample(range(1, total), 3):
        store = extended_store(tmp_path / str(line))
        before = rows_of(store)
        assert compact_until(store, line).returncode == -signal.SIGKILL
        assert_same_frames(rows_of(store), before)
        compact(store)
        assert_same_frames(rows_of(store), before)
        assert plainly(store)["trial_id"].n_unique() == len(plainly(store)) == TRIALS
