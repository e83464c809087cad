"""A compaction in a thread beside commits: its end, its errors, and another owner of the study."""

import threading
import time
from datetime import UTC, datetime

import polars as pl
import pytest

from orchestrator.results.records.asks import Ask, read_asks, read_gathered_asks, write_ask
from orchestrator.results.records.attempts import (
    Attempt,
    read_attempts,
    read_gathered_attempts,
    write_attempt,
)
from orchestrator.results.trial_files import compaction as compaction_module
from orchestrator.results.trial_files import compaction_during_run, segment_trials
from orchestrator.results.trial_files.commit_trials import commit_trial
from orchestrator.results.trial_files.compaction import compact
from orchestrator.results.trial_files.compaction_during_run import CompactionDuringRun
from orchestrator.results.trial_files.compaction_manifest import read_manifest
from orchestrator.results.trial_files.integrity import check_store
from podium.errors import StoreError
from tests.orchestrator.results.small_segments import make_segments_small
from tests.orchestrator.results.store_rows import SCHEMA, commit, new_store, row


@pytest.fixture(autouse=True)
def small_segments(monkeypatch):
    make_segments_small(monkeypatch.setattr)


def rows_in(store):
    return pl.read_parquet(f"{store.folder}/**/*.parquet").sort("trial_id").to_dicts()


def committed(store, compaction, *indices):
    for index in indices:
        written = commit_trial(store, SCHEMA, row(index))
        compaction.committed(f"s{index % 2}", f"t{index:03d}", written)


def test_the_end_waits_for_a_compaction_that_is_under_way(tmp_path, monkeypatch):
    store, real = new_store(tmp_path), compaction_during_run.compact_loose
    entered, released = threading.Event(), threading.Event()

    def slowly(*arguments):
        entered.set()
        assert released.wait(60)
        real(*arguments)

    monkeypatch.setattr(compaction_during_run, "compact_loose", slowly)
    with CompactionDuringRun(store, lambda: None) as compaction:
        committed(store, compaction, 0, 1)
        assert entered.wait(60)
        committed(store, compaction, 2)
        assert read_manifest(store).num_trials == 0, "no trial waits"
        threading.Timer(0.2, released.set).start()
    assert read_manifest(store).num_trials == 2
    assert check_store(store) == 3


def test_rows_that_the_run_wrote_are_not_read_again(tmp_path, monkeypatch):
    read, read_groups = [], compaction_module.read_groups

    def noted(path, schema):
        read.append(path.stem)
        return read_groups(path, schema)

    monkeypatch.setattr(compaction_module, "read_groups", noted)
    store = commit(new_store(tmp_path / "kept"), row(0))
    with CompactionDuringRun(store, lambda: None) as compaction:
        committed(store, compaction, 1, 2)
    assert read == ["t000"]  # of an earlier run

    monkeypatch.setattr(compaction_during_run, "_KEPT_BYTES", 0)
    full = commit(new_store(tmp_path / "full"), row(0))
    with CompactionDuringRun(full, lambda: None) as compaction:
        committed(full, compaction, 1, 2)
    assert sorted(read[1:]) == ["t000", "t001", "t002"]
    assert rows_in(store) == rows_in(full)


def test_what_an_earlier_run_left_loose_is_gathered_with_the_first_segment(tmp_path):
    store = commit(new_store(tmp_path), *(row(index) for index in range(5)))
    with CompactionDuringRun(store, lambda: None) as compaction:
        committed(store, compaction, 5, 6)
    assert read_manifest(store).num_trials == 7


def test_a_run_that_lost_its_study_replaces_no_manifest(tmp_path):
    store = commit(new_store(tmp_path), row(0))
    compact(store)
    before = store.manifest.read_bytes()

    def lost():
        raise StoreError("another run has it")

    with (
        pytest.raises(StoreError, match="another run has it"),
        CompactionDuringRun(store, lost) as compaction,
    ):
        committed(store, compaction, 1, 2)
    assert store.manifest.read_bytes() == before
    assert check_store(store) == 3


def test_a_manifest_that_another_process_replaced_is_not_replaced(tmp_path):
    store = commit(new_store(tmp_path), row(0))
    calls = []

    def another_compacts():
        calls.append(None)
        if len(calls) == 2:  # the segment is written
            compact(store)

    with (
        pytest.raises(StoreError, match="was replaced by another process meanwhile"),
        CompactionDuringRun(store, another_compacts) as compaction,
    ):
        committed(store, compaction, 1, 2)
    assert len(calls) >= 2
    assert check_store(store) == 3


def test_an_exception_abandons_the_compaction_and_the_next_run_finishes_it(tmp_path, monkeypatch):
    store, entered = new_store(tmp_path), threading.Event()

    def wait_then_check(check):
        entered.set()
        time.sleep(0.1)
        check()

    compact_loose = compaction_during_run.compact_loose
    monkeypatch.setattr(
        compaction_during_run,
        "compact_loose",
        lambda paths, loose, check, rows: compact_loose(
            paths, loose, lambda: wait_then_check(check), rows
        ),
    )

    def interrupted():
        with CompactionDuringRun(store, lambda: None) as compaction:
            committed(store, compaction, 0, 1)
            assert entered.wait(60)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert read_manifest(store).num_trials == 0
    compact(store)
    assert check_store(store) == 2
    assert pl.read_parquet(f"{store.folder}/**/*.parquet").height == 2


def ask_of(index):
    return Ask(
        search="s1",
        index=index,
        trial_id=f"t{2 * index + 1:03d}",
        config_hash="c",
        hyperparameters={"margin": float(index)},
        source="sampler",
    )


def attempt_of(index):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Attempt(
        trial_id=f"t{2 * index + 1:03d}",
        number=1,
        node="n",
        pid=1,
        device="cpu",
        started_at=now,
        ended_at=now,
        cause="complete",
    )


def test_records_of_a_search_that_goes_on_are_gathered_whenever_they_double(tmp_path):
    store, num_gathered = new_store(tmp_path), []
    with CompactionDuringRun(store, lambda: None) as compaction:
        for index in range(18):
            write_ask(store, ask_of(index))
            write_attempt(store, attempt_of(index))
            committed(store, compaction, 2 * index + 1)
            asks = [ask_of(earlier) for earlier in range(index + 1)]
            compaction.search_advanced("s1", asks, f"t{2 * index + 1:03d}", is_over=False)
            if compaction._thread is not None:
                compaction._thread.join()
            num_gathered.append(len(read_gathered_asks(store, "s1")))
            assert [ask.index for ask in read_asks(store)["s1"]] == list(range(index + 1))
            assert len(list(read_attempts(store))) == index + 1
            assert store.ask_folder("s1").is_dir(), "the driver may be about to write there"
    # Two trials fill a segment here, and what is due by then is gathered.
    assert list(dict.fromkeys(num_gathered)) == [0, 2, 4, 8, 16]
    assert len(read_gathered_attempts(store, "s1")) == 16


def test_a_search_that_is_over_is_gathered_whole(tmp_path):
    store = new_store(tmp_path)
    with CompactionDuringRun(store, lambda: None) as compaction:
        for index in range(3):
            write_ask(store, ask_of(index))
            write_attempt(store, attempt_of(index))
            asks = [ask_of(earlier) for earlier in range(index + 1)]
            compaction.search_advanced("s1", asks, f"t{2 * index + 1:03d}", is_over=index == 2)
            commit(store, row(2 * index + 1))
        committed(store, compaction, 0, 2)
    assert len(read_gathered_asks(store, "s1")) == len(read_gathered_attempts(store, "s1")) == 3


def test_a_listing_is_not_read_by_the_process_that_wrote_it(tmp_path, monkeypatch):
    def never(*_):
        raise AssertionError("it was read")

    store = new_store(tmp_path)
    monkeypatch.setattr(segment_trials, "read_listing", never)
    with CompactionDuringRun(store, lambda: None) as compaction:
        committed(store, compaction, 0, 1)
    assert commit_trial(store, SCHEMA, row(0, objective=0.9)) is None
    assert commit_trial(store, SCHEMA, row(2)) is not None
