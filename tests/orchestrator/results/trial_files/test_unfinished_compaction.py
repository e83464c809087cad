"""Programs that know nothing of the manifest never count trials wrongly."""

import io

import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from orchestrator.results.trial_files.commit_trials import commit_trial
from orchestrator.results.trial_files.compaction import compact, finish_compaction
from orchestrator.results.trial_files.compaction_manifest import take_inventory
from orchestrator.results.trial_files.integrity import check_store, leftover_files
from orchestrator.results.trial_files.unfinished_compaction import mark_unfinished
from tests.orchestrator.results.extended_stores import rows_of
from tests.orchestrator.results.file_operations import (
    EVERY_KIND_OR_ALL,
    FULL,
    FileOperations,
    ended_stores,
)
from tests.orchestrator.results.store_frames import assert_same_frames
from tests.orchestrator.results.store_rows import SCHEMA, commit, new_store, row

NUM_TRIALS = 6
TRIALS = [f"t{index:03d}" for index in range(NUM_TRIALS)]
MARK = "0-unfinished-compaction.run-podium-compact.parquet"


def half_compacted(folder):
    """A compacted file and loose ones, all with the same columns."""
    store = commit(new_store(folder), *(row(index) for index in range(3)))
    compact(store)
    return commit(store, *(row(index) for index in range(3, NUM_TRIALS)))


def parquet_files(store):
    return sorted(store.folder.rglob("*.parquet"))


def _ids_by_polars(store):
    return pl.read_parquet(f"{store.folder}/**/*.parquet")["trial_id"].to_list()


def _count_by_polars(store):
    lazy = pl.scan_parquet(f"{store.folder}/**/*.parquet", missing_columns="insert")
    return lazy.select(pl.len()).collect().item()


def _ids_by_pyarrow(store):
    files = [str(path) for path in parquet_files(store)]
    return ds.dataset(files, format="parquet").to_table(["trial_id"])["trial_id"].to_pylist()


def _count_by_pyarrow(store):
    files = [str(path) for path in reversed(parquet_files(store))]
    return ds.dataset(files, format="parquet").count_rows()


def counts_right_or_says_why(store):
    """Whether all programs can read the store now; asserts that none of them counts wrongly."""
    marked = store.unfinished_compaction.exists()
    for read, right in (
        (_ids_by_polars, TRIALS),
        (_count_by_polars, NUM_TRIALS),
        (_ids_by_pyarrow, TRIALS),
        (_count_by_pyarrow, NUM_TRIALS),
    ):
        if not marked:
            found = read(store)
            assert (sorted(found) if isinstance(found, list) else found) == right
            continue
        with pytest.raises((pl.exceptions.DuplicateError, pa.ArrowInvalid)) as raised:
            read(store)
        if read is not _count_by_pyarrow:  # which gives no file when the first one is readable
            assert MARK in str(raised.value)
    return not marked


def test_between_any_two_file_operations_trials_count_once_or_an_error_says_why(
    tmp_path, monkeypatch
):
    store, readable = half_compacted(tmp_path), []
    with monkeypatch.context() as patch:
        FileOperations(patch, between=lambda: readable.append(counts_right_or_says_why(store)))
        compact(store)
    assert counts_right_or_says_why(store)
    assert False in readable
    assert readable.index(False) > 5, "a reader can go on while the new file is written"
    assert readable == sorted(readable[:-1], reverse=True) + readable[-1:]


@EVERY_KIND_OR_ALL
def test_killed_at_any_file_operation_trials_count_once_or_an_error_says_why(
    tmp_path, monkeypatch, are_all
):
    readable = set()
    for store in ended_stores(tmp_path, monkeypatch, half_compacted, compact, are_all=are_all):
        readable.add(counts_right_or_says_why(store))
        assert check_store(store) == NUM_TRIALS
        compact(store)
        assert counts_right_or_says_why(store)
        assert len(parquet_files(store)) == 1
    assert readable == {False, True}


@EVERY_KIND_OR_ALL
def test_the_next_run_finishes_what_was_killed_without_gathering_more(
    tmp_path, monkeypatch, are_all
):
    for store in ended_stores(tmp_path, monkeypatch, half_compacted, compact, are_all=are_all):
        before = rows_of(store)
        finish_compaction(store)
        assert counts_right_or_says_why(store)
        assert_same_frames(rows_of(store), before)


@EVERY_KIND_OR_ALL
def test_killed_while_it_finishes_the_next_one_does(tmp_path, monkeypatch, are_all):
    def doubled(folder):
        store = half_compacted(folder)
        files = {path: path.read_bytes() for path in parquet_files(store)}
        compact(store)
        mark_unfinished(store)
        for path, content in files.items():
            path.write_bytes(content)
        return store

    for store in ended_stores(tmp_path, monkeypatch, doubled, finish_compaction, are_all=are_all):
        counts_right_or_says_why(store)
        compact(store)
        assert counts_right_or_says_why(store)


def test_what_an_older_podium_left_twice_is_guarded_while_it_is_deleted(tmp_path, monkeypatch):
    store = half_compacted(tmp_path)
    files = {path: path.read_bytes() for path in parquet_files(store)}
    compact(store)
    for path, content in files.items():
        path.write_bytes(content)
    states = []
    with monkeypatch.context() as patch:

        def look():
            if parquet_files(store) != before:
                states.append(counts_right_or_says_why(store))

        before = parquet_files(store)
        FileOperations(patch, between=look)
        compact(store)
    assert False in states
    assert counts_right_or_says_why(store)


@EVERY_KIND_OR_ALL
def test_a_disk_that_is_full_leaves_nothing_that_counts_twice(tmp_path, monkeypatch, are_all):
    for store in ended_stores(
        tmp_path, monkeypatch, half_compacted, compact, are_all=are_all, error=FULL
    ):
        counts_right_or_says_why(store)


def test_a_trial_that_was_compacted_is_not_visible_again_when_a_late_worker_commits_it(
    tmp_path, monkeypatch
):
    store = half_compacted(tmp_path)
    compact(store)
    with monkeypatch.context() as patch:
        FileOperations(patch, between=lambda: counts_right_or_says_why(store))
        assert not commit_trial(store, SCHEMA, row(0, objective=0.9))
    assert counts_right_or_says_why(store)


def test_podium_passes_over_the_mark(tmp_path):
    store = half_compacted(tmp_path)
    before = rows_of(store)
    mark_unfinished(store)
    assert_same_frames(rows_of(store), before)
    assert list(leftover_files(store, take_inventory(store))) == []
    assert check_store(store) == NUM_TRIALS
    compact(store)
    assert not store.unfinished_compaction.exists()


def test_no_program_reads_the_mark_itself(tmp_path):
    store = new_store(tmp_path)
    mark_unfinished(store)
    content = store.unfinished_compaction.read_bytes()
    with pytest.raises(pl.exceptions.DuplicateError, match=MARK):
        pl.read_parquet(io.BytesIO(content))
    with pytest.raises(pa.ArrowInvalid):
        pq.ParquetFile(io.BytesIO(content))
