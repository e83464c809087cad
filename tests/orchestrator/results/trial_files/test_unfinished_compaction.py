"""Programs that know nothing of the manifest never count trials wrongly."""

import io
import itertools
import random
from functools import partial

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from orchestrator.results.trial_files.commit_trials import commit_trial
from orchestrator.results.trial_files.compaction import compact, finish_compaction
from orchestrator.results.trial_files.compaction_manifest import take_inventory
from orchestrator.results.trial_files.integrity import check_store, leftover_files
from orchestrator.results.trial_files.unfinished_compaction import mark_unfinished, marks
from tests.orchestrator.results.extended_stores import rows_of
from tests.orchestrator.results.file_operations import (
    FULL,
    SOME_OR_ALL,
    FileOperations,
    ended_stores,
)
from tests.orchestrator.results.small_segments import make_segments_small, nearly_full
from tests.orchestrator.results.store_frames import assert_same_frames
from tests.orchestrator.results.store_rows import (
    SCHEMA,
    commit,
    new_store,
    row,
)
from tests.soak import soak

NUM_TRIALS = 6
TRIALS = [f"t{index:03d}" for index in range(NUM_TRIALS)]
MARK = "unfinished-compaction.podium-run-ends-it"


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


def _count_by_duckdb(store, options=""):
    files = f"'{store.folder}/**/*.parquet'{options}"
    ((found,),) = duckdb.sql(f"SELECT count(*) FROM read_parquet({files})").fetchall()
    return found


def _count_by_pyarrow(store):
    files = [str(path) for path in reversed(parquet_files(store))]
    return ds.dataset(files, format="parquet").count_rows()


def counts_right_or_says_why(store):
    """Whether all programs can read the store now; asserts that none of them counts wrongly."""
    marked = store.unfinished_compaction.exists()
    marked_for_duckdb = store.last_without_columns.exists()
    for read, right, is_refused in (
        (_ids_by_polars, TRIALS, marked),
        (_count_by_polars, NUM_TRIALS, marked),
        (_ids_by_pyarrow, TRIALS, marked),
        (_count_by_pyarrow, NUM_TRIALS, marked),
        (_count_by_duckdb, NUM_TRIALS, marked_for_duckdb),
        (
            partial(_count_by_duckdb, options=", union_by_name = true"),
            NUM_TRIALS,
            marked_for_duckdb,
        ),
    ):
        if not is_refused:
            found = read(store)
            assert (sorted(found) if isinstance(found, list) else found) == right
            continue
        refusals = (pl.exceptions.DuplicateError, pa.ArrowInvalid, duckdb.Error)
        with pytest.raises(refusals) as raised:
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


@SOME_OR_ALL
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


@SOME_OR_ALL
def test_the_next_run_finishes_what_was_killed_without_gathering_more(
    tmp_path, monkeypatch, are_all
):
    for store in ended_stores(tmp_path, monkeypatch, half_compacted, compact, are_all=are_all):
        before = rows_of(store)
        finish_compaction(store)
        assert counts_right_or_says_why(store)
        assert_same_frames(rows_of(store), before)


@SOME_OR_ALL
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
            if states or store.last_without_columns.exists():
                states.append(counts_right_or_says_why(store))

        FileOperations(patch, between=look)
        compact(store)
    assert False in states
    assert counts_right_or_says_why(store)


@SOME_OR_ALL
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


def in_order_of_keys(path):
    return path.as_posix()


def in_order_of_folders(path):
    return path.parts


class Listed:
    """The Parquet files of a folder after each file operation, and the trials in each file."""

    def __init__(self, folder):
        self._folder = folder
        self.moments = []
        self.trials = {}
        self.look()

    def look(self):
        files = [path.relative_to(self._folder) for path in self._folder.rglob("*.parquet")]
        for file in files:
            if "unfinished" not in file.name and file not in self.trials:
                ids = pl.read_parquet(self._folder / file, columns=["trial_id"])
                self.trials[file] = ids["trial_id"].to_list()
        self.moments.append(set(files))

    def check(self, moments, order):
        """Names come in order, each at its moment: then there is an error, or all count once."""
        names = sorted(set.union(*self.moments), key=order)
        seen = [name for name, at in zip(names, moments, strict=True) if name in self.moments[at]]
        if not set(seen) <= self.trials.keys() & self.moments[moments[-1]]:
            return False  # the mark is among them, or one is deleted before it is opened
        counted = sorted(trial for name in seen for trial in self.trials[name])
        assert counted == self.all_trials
        return True

    @property
    def all_trials(self):
        return sorted({trial for ids in self.trials.values() for trial in ids})

    def check_all(self, order):
        """Every listing that is held up once at any name, and many that are again and again."""
        num_names, last = len(set.union(*self.moments)), len(self.moments) - 1
        for cut in range(num_names + 1):
            for first, then in itertools.combinations_with_replacement(range(last + 1), 2):
                yield self.check([first] * cut + [then] * (num_names - cut), order)
        choose = random.Random(0)
        for _ in range(5000):
            yield self.check(sorted(choose.choices(range(last + 1), k=num_names)), order)


@pytest.mark.parametrize("order", [in_order_of_keys, in_order_of_folders])
@pytest.mark.parametrize("kind", ["first", "growing", *soak("merged")])
def test_a_listing_that_takes_as_long_as_compactions_counts_each_trial_once_or_fails(
    tmp_path, monkeypatch, kind, order
):
    make_segments_small(monkeypatch.setattr)
    if kind == "merged":
        store = nearly_full(tmp_path)
    else:
        store = commit(new_store(tmp_path), *(row(index) for index in range(3)))
    if kind == "growing":
        compact(store)
        commit(store, row(3), row(4))
    listed = Listed(store.folder)
    with monkeypatch.context() as patch:
        FileOperations(patch, between=listed.look)
        compact(store)
    listed.look()
    assert len(listed.moments) > 5
    assert set(listed.check_all(order)) == {True, False}


def test_podium_passes_over_the_mark(tmp_path):
    store = half_compacted(tmp_path)
    before = rows_of(store)
    mark_unfinished(store)
    assert_same_frames(rows_of(store), before)
    assert list(leftover_files(store, take_inventory(store))) == []
    assert check_store(store) == NUM_TRIALS
    compact(store)
    assert not any(mark.exists() for mark in marks(store))


def test_no_program_reads_the_mark_itself(tmp_path):
    store = new_store(tmp_path)
    mark_unfinished(store)
    *doubled, without_columns = marks(store)
    for mark in doubled:
        content = mark.read_bytes()
        with pytest.raises(pl.exceptions.DuplicateError, match=mark.name):
            pl.read_parquet(io.BytesIO(content))
        with pytest.raises(pa.ArrowInvalid):
            pq.ParquetFile(io.BytesIO(content))
    with pytest.raises(duckdb.Error, match=without_columns.name):
        duckdb.read_parquet(str(without_columns))
