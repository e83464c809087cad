"""Levels of segments: what compactions leave, what they cost, and whoever interrupts them."""

import math
import threading
from collections import Counter
from itertools import pairwise

import polars as pl
import pytest

from orchestrator.results.trial_files import compaction as compaction_module
from orchestrator.results.trial_files import segment_trials
from orchestrator.results.trial_files.commit_trials import TrialCopy, commit_trial, copy_trials
from orchestrator.results.trial_files.compaction import compact
from orchestrator.results.trial_files.compaction_manifest import (
    Segment,
    level_of,
    read_manifest,
)
from orchestrator.results.trial_files.integrity import check_store
from orchestrator.results.trial_files.reader import Reader
from orchestrator.results.trial_files.withdraw_trials import withdraw_trials
from tests.orchestrator.results.extended_stores import plainly, rows_of
from tests.orchestrator.results.file_operations import (
    FULL,
    SOME_OR_ALL,
    FileOperations,
    ended_stores,
)
from tests.orchestrator.results.small_segments import (
    NUM_NEARLY_FULL,
    SEGMENTS_PER_LEVEL,
    TRIALS_PER_SEGMENT,
    make_segments_small,
    nearly_full,
)
from tests.orchestrator.results.store_frames import assert_same_frames
from tests.orchestrator.results.store_rows import (
    SCHEMA,
    WIDER,
    commit,
    new_store,
    row,
)

MANY = 40


@pytest.fixture
def small_segments(monkeypatch):
    make_segments_small(monkeypatch.setattr)


def shape(store):
    """Level -> numbers of trials of its segments."""
    levels = {}
    for segment in read_manifest(store).segments:
        levels.setdefault(segment.level, []).append(segment.num_trials)
    return levels


def names_in(store):
    folders = (store.segments, store.compacted)
    names = [path.name for folder in folders if folder.exists() for path in folder.iterdir()]
    return sorted(name for name in names if name != store.manifest.name)


def expected_names(store):
    segments = read_manifest(store).segments
    files = [path.name for segment in segments for path in segment.files]
    return sorted(files)


# What lies there, and what it cost.


def test_a_small_study_is_one_segment_however_often_it_grows(tmp_path):
    store = new_store(tmp_path)
    for index in range(5):
        compact(commit(store, row(index)))
        assert shape(store) == {0: [index + 1]}
        assert names_in(store) == expected_names(store)


def test_segments_of_a_level_are_merged_as_soon_as_it_is_full(tmp_path, small_segments):
    store = new_store(tmp_path)
    for index in range(0, MANY, 2):
        compact(commit(store, row(index), row(index + 1)))
        levels = shape(store)
        assert all(len(sizes) < SEGMENTS_PER_LEVEL for sizes in levels.values())
        for level, sizes in levels.items():
            assert set(sizes) == {TRIALS_PER_SEGMENT * SEGMENTS_PER_LEVEL**level}
        assert names_in(store) == expected_names(store)
    assert check_store(store) == MANY
    assert plainly(store)["trial_id"].to_list() == sorted(f"t{index:03d}" for index in range(MANY))


def test_a_row_is_written_once_for_each_level(tmp_path, small_segments, monkeypatch):
    written = Counter()
    real = compaction_module.write_segment

    def counting(paths, schema, trials, rows, **options):
        def counted():
            for table in rows:
                written.update(table["trial_id"].to_pylist())
                yield table

        return real(paths, schema, trials, counted(), **options)

    monkeypatch.setattr(compaction_module, "write_segment", counting)
    store = new_store(tmp_path)
    for index in range(0, MANY, 2):
        compact(commit(store, row(index), row(index + 1)))
    levels = 1 + int(math.log(MANY / TRIALS_PER_SEGMENT, SEGMENTS_PER_LEVEL))
    assert max(written.values()) == levels
    assert len(written) == MANY


@pytest.mark.parametrize(
    ("num_trials", "level"),
    [(1, 0), (4095, 0), (4096, 1), (32_767, 1), (32_768, 2), (1_000_000, 3)],
)
def test_the_level_of_a_segment_follows_from_its_trials(num_trials, level):
    assert level_of(num_trials) == level


def test_whatever_is_loose_becomes_one_segment_of_the_level_that_it_fills(
    tmp_path, small_segments
):
    store = commit(new_store(tmp_path), *(row(index) for index in range(MANY)))
    assert compact(store) == MANY
    assert shape(store) == {2: [MANY]}


def test_the_order_of_compactions_changes_no_row(tmp_path, small_segments):
    whole = commit(new_store(tmp_path / "whole"), *(row(index) for index in range(MANY)))
    before = rows_of(whole)
    store = new_store(tmp_path / "parts")
    for index in range(MANY):
        commit(store, row(index))
        if index % 3 == 0:
            compact(store)
    assert_same_frames(rows_of(store), before)
    compact(store)
    assert_same_frames(rows_of(store), before)


def test_segments_of_a_smaller_schema_are_rewritten_each_for_itself(tmp_path, small_segments):
    store = nearly_full(tmp_path)
    before = rows_of(store)["trials"]
    levels = shape(store)
    new_store(tmp_path, WIDER)
    commit(store, row(30, WIDER), schema=WIDER)
    compact(store)
    assert plainly(store).columns == WIDER.names
    assert Reader(store.folder).trials().collect().drop("hp.alpha").height == before.height + 1
    assert sum(len(sizes) for sizes in shape(store).values()) <= sum(map(len, levels.values()))
    compact(store)
    again = {path: path.stat().st_mtime_ns for path in store.segments.iterdir()}
    compact(store)
    assert {path: path.stat().st_mtime_ns for path in store.segments.iterdir()} == again


def test_withdrawn_trials_leave_their_segments_alone_and_touch_no_other(tmp_path, small_segments):
    store = nearly_full(tmp_path)
    others = [it for it in read_manifest(store).segments if "t000" not in it.trials]
    before = {it.path: it.path.stat().st_mtime_ns for it in others}
    withdraw_trials(store, {"t000": "s0"})
    assert check_store(store) == NUM_NEARLY_FULL - 1
    assert {path: path.stat().st_mtime_ns for path in before} == before
    compact(store)
    assert len(plainly(store)) == NUM_NEARLY_FULL - 1
    assert names_in(store) == expected_names(store)


def counts_right_or_says_why(store):
    """Whether plain polars counts each trial once; otherwise it must be the mark that it names."""
    if store.unfinished_compaction.exists():
        with pytest.raises(pl.exceptions.PolarsError, match=store.unfinished_compaction.name):
            plainly(store)
        return False
    found = plainly(store)["trial_id"].to_list()
    assert found == sorted(f"t{index:03d}" for index in range(NUM_NEARLY_FULL))
    return True


def test_readers_and_polars_see_all_rows_between_any_two_file_operations_of_merges(
    tmp_path, small_segments, monkeypatch
):
    store, readable = nearly_full(tmp_path), []
    before = rows_of(store)

    def look():
        assert_same_frames(rows_of(store), before)
        readable.append(counts_right_or_says_why(store))

    with monkeypatch.context() as patch:
        operations = FileOperations(patch, between=look)
        compact(store)
    assert operations.count > 40
    assert counts_right_or_says_why(store)
    assert shape(store) == {2: [NUM_NEARLY_FULL]}
    # One gathering and two merges, each of them readable while its segment is written.
    assert sum(before and not after for before, after in pairwise(readable)) == 3


@SOME_OR_ALL
def test_killed_at_any_file_operation_of_merges_the_next_one_finishes(
    tmp_path, small_segments, monkeypatch, are_all
):
    before = rows_of(nearly_full(tmp_path / "whole"))
    readable = set()
    for store in ended_stores(tmp_path, monkeypatch, nearly_full, compact, are_all=are_all):
        assert_same_frames(rows_of(store), before)
        readable.add(counts_right_or_says_why(store))
        assert check_store(store) == NUM_NEARLY_FULL
        compact(store)
        assert_same_frames(rows_of(store), before)
        assert counts_right_or_says_why(store)
        assert names_in(store) == expected_names(store)
    assert readable == {False, True}


@SOME_OR_ALL
def test_a_full_disk_at_any_file_operation_of_merges_loses_nothing(
    tmp_path, small_segments, monkeypatch, are_all
):
    before = rows_of(nearly_full(tmp_path / "whole"))
    for store in ended_stores(
        tmp_path, monkeypatch, nearly_full, compact, are_all=are_all, error=FULL
    ):
        assert_same_frames(rows_of(store), before)
        compact(store)
        assert counts_right_or_says_why(store)


# Commits meanwhile.


def test_no_committed_trial_is_committed_again_between_any_two_file_operations(
    tmp_path, small_segments, monkeypatch
):
    store = nearly_full(tmp_path)
    before, tried = rows_of(store), []

    def commit_again():
        index = len(tried) % NUM_NEARLY_FULL
        tried.append(commit_trial(store, SCHEMA, row(index, objective=0.99)))

    with monkeypatch.context() as patch:
        FileOperations(patch, between=commit_again)
        compact(store)
    assert len(tried) > 40
    assert not any(tried)
    assert_same_frames(rows_of(store), before)
    compact(store)
    assert counts_right_or_says_why(store)


def test_new_trials_that_are_committed_meanwhile_stay_loose_and_count(
    tmp_path, small_segments, monkeypatch
):
    store, new = nearly_full(tmp_path), []

    def commit_new():
        new.append(commit_trial(store, SCHEMA, row(100 + len(new))))

    with monkeypatch.context() as patch:
        FileOperations(patch, between=commit_new)
        compact(store)
    assert all(new)
    assert check_store(store) == NUM_NEARLY_FULL + len(new)
    assert len(Reader(store.folder).trials().collect()) == NUM_NEARLY_FULL + len(new)


def test_copies_are_made_between_any_two_file_operations(tmp_path, small_segments, monkeypatch):
    store, made = nearly_full(tmp_path), []

    def copy_one():
        index = len(made) % NUM_NEARLY_FULL
        identity = {"trial_id": f"copy{len(made)}", "search": "s9"}
        original = TrialCopy(trial_id=f"t{index:03d}", search=f"s{index % 2}", identity=identity)
        copy_trials(store, SCHEMA, [original])
        made.append(identity["trial_id"])

    with monkeypatch.context() as patch:
        FileOperations(patch, between=copy_one)
        compact(store)
    found = Reader(store.folder).trials().collect()
    assert set(made) <= set(found["trial_id"])
    assert len(found) == NUM_NEARLY_FULL + len(made)


def test_of_commits_that_race_each_other_and_compactions_the_first_wins(tmp_path, small_segments):
    store, won, ended = new_store(tmp_path), [], threading.Event()

    def work(worker):
        for index in range(30):
            if commit_trial(store, SCHEMA, row(index, objective=worker / 8)):
                won.append((f"t{index:03d}", worker / 8))

    def compact_again_and_again():
        while not ended.is_set():
            compact(store)

    compacting = threading.Thread(target=compact_again_and_again)
    workers = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in (compacting, *workers):
        thread.start()
    for worker in workers:
        worker.join()
    ended.set()
    compacting.join()
    compact(store)
    found = Reader(store.folder).trials().collect().select("trial_id", "objective")
    assert len(won) == 30
    assert sorted(found.rows()) == sorted(won)
    assert check_store(store) == len(plainly(store)) == 30


def test_a_listing_that_a_compaction_deletes_is_no_damage(tmp_path, small_segments, monkeypatch):
    store = nearly_full(tmp_path)
    real, is_due = Segment.trials.fget, [True]

    def after_a_compaction(segment):  # the manifest was read, the listing was not yet
        if is_due and is_due.pop():
            compact(store)
            segment_trials._known.clear()
        return real(segment)

    monkeypatch.setattr(Segment, "trials", property(after_a_compaction))
    assert not commit_trial(store, SCHEMA, row(0, objective=0.9))
    assert shape(store) == {2: [NUM_NEARLY_FULL]}
