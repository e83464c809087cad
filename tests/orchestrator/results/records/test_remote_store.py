"""A whole store in a bucket of a service, and in one of this process's memory."""

import itertools
import random
import tempfile
import threading
import time

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.errors import CorruptFileError, PodiumError
from podium.orchestrator.results.records import checkpoint_files
from podium.orchestrator.results.records.artifact_files import (
    embedding_files,
    kept_bytes,
    model_files,
)
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage import local_copies, transient_errors
from podium.orchestrator.results.storage.files import list_files, put, read_bytes
from podium.orchestrator.results.storage.object_store import RemoteFile
from podium.orchestrator.results.trial_files.commit_trials import commit_trial
from podium.orchestrator.results.trial_files.gather_trials import gather_all
from podium.orchestrator.results.trial_files.integrity import check_store
from podium.orchestrator.results.trial_files.parquet_file import ParquetFile
from podium.orchestrator.results.trial_files.reader import Reader
from tests.object_store import KEY, SECRET, proxied
from tests.orchestrator.results.extended_stores import TRIALS, extended_store, rows_of
from tests.orchestrator.results.file_operations import Killed
from tests.orchestrator.results.store_frames import assert_same_frames
from tests.orchestrator.results.store_rows import SCHEMA, commit, new_store, row
from tests.soak import soak


@pytest.fixture(params=["bucket", "memory_bucket"])
def folder(request):
    return request.getfixturevalue(request.param)


def test_a_store_reads_as_the_same_store_on_a_disk(folder, tmp_path):
    remote, local = extended_store(folder), extended_store(tmp_path)
    assert_same_frames(rows_of(remote), rows_of(local))
    assert check_store(remote) == TRIALS
    gather_all(remote)
    gather_all(local)
    assert_same_frames(rows_of(remote), rows_of(local))
    assert names(remote) == names(local)


def names(store):
    return [
        f"{it.parent.name}/{it.name}" for it in list_files(store.trials, "", in_subfolders=True)
    ]


def test_the_first_commit_wins_also_over_a_gathered_row(folder):
    store = commit(new_store(folder), row(0, objective=0.5))
    assert not commit_trial(store, SCHEMA, row(0, objective=0.9))
    gather_all(store)
    assert not commit_trial(store, SCHEMA, row(0, objective=0.9))
    assert Reader(store.folder).trials().collect()["objective"].to_list() == [0.5]
    assert check_store(store) == 1


def test_of_many_workers_that_commit_one_trial_one_wins(bucket):
    store, start = new_store(bucket), threading.Barrier(8)
    won = []

    def work(number):
        start.wait()
        if commit_trial(store, SCHEMA, row(0, objective=number / 8)):
            won.append(number / 8)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Reader(store.folder).trials().collect()["objective"].to_list() == won
    assert len(won) == 1


def test_checkpoints_and_weights_come_back(folder):
    store = new_store(folder)
    assert checkpoint_files.load(store, "t0") is None
    checkpoint_files.save(store, "t0", b"state")
    assert checkpoint_files.load(store, "t0") == b"state"
    checkpoint_files.delete(store, "t0")
    assert checkpoint_files.load(store, "t0") is None
    put(store.model("t0", 1), b"weights")
    assert kept_bytes(store) == 7
    assert read_bytes(model_files(store, "t0")[1]) == b"weights"
    assert embedding_files(store, "t0") == {}


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no parquet"])
def test_a_damaged_file_is_named_by_its_place_in_the_store(folder, content):
    store = commit(new_store(folder), row(0), row(1))
    put(store.trial("s1", "t001"), content)
    name = r"(s3|memory)://.*/trials/search=s1/t001\.parquet"
    with pytest.raises(CorruptFileError, match=name):
        Reader(store.folder).trials().collect()
    with pytest.raises(CorruptFileError, match=name):
        check_store(store)


def test_a_flipped_bit_is_reported_with_its_place_in_the_store(folder):
    store = commit(new_store(folder), row(0))
    place = store.trial("s0", "t000")
    content = bytearray(read_bytes(place))
    content[len(content) // 2] ^= 1
    put(place, bytes(content))
    with pytest.raises(CorruptFileError, match=r"://.*t000\.parquet\S* is damaged: its"):
        ParquetFile(place)


def test_a_place_without_results_is_no_results_folder(folder):
    with pytest.raises(
        PodiumError, match=r"is not a results folder of podium: it has no store\.json"
    ):
        Reader(folder / "nothing")


def test_what_was_read_once_is_not_fetched_again(s3_service):
    with proxied(s3_service) as (proxy, bucket):
        store = commit(new_store(bucket), *(row(index) for index in range(12)))
        reader = Reader(store.folder)
        proxy.requests.clear()
        assert len(reader.trials().collect()) == 12
        assert len(fetched(proxy)) == 12
        proxy.requests.clear()
        commit(store, row(12))
        assert len(reader.trials().collect()) == 13
        assert len(reader.scores().collect()) > 13
        (new,) = fetched(proxy)
        assert "t012.parquet" in new
        assert len(proxy.requests) < 20


def test_a_process_gathers_what_it_committed_without_fetching_it(s3_service):
    with proxied(s3_service) as (proxy, bucket):
        store = new_store(bucket)
        assert all(commit_trial(store, SCHEMA, row(index)) for index in range(6))
        before = Reader(store.folder).trials().collect()
        gather_all(store)
        assert fetched(proxy) == []
        assert check_store(store) == 6
        assert_frame_equal(Reader(store.folder).trials().collect(), before)


def test_a_row_that_another_process_committed_first_is_not_kept_as_its_copy(bucket):
    store = commit(new_store(bucket), row(0, objective=0.5))
    assert not commit_trial(store, SCHEMA, row(0, objective=0.9))
    assert Reader(store.folder).trials().collect()["objective"].to_list() == [0.5]


def test_where_copies_have_no_room_a_row_is_committed_all_the_same(bucket, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(local_copies, "_folder", local_copies._folder.__wrapped__)
        patch.setattr(tempfile, "tempdir", "/nonexistent/podium")
        store = new_store(bucket)
        assert commit_trial(store, SCHEMA, row(0))
    assert len(Reader(store.folder).trials().collect()) == 1


def fetched(proxy):
    return [path for method, path in proxy.requests if method == "GET" and ".parquet" in path]


class Requests:
    """Counts what is asked of a store, and ends it at a chosen request."""

    METHODS = tuple(name for name in vars(RemoteFile) if not name.startswith("_"))

    def __init__(self, monkeypatch, die_at=None, between=lambda: None):
        self.count = 0
        self._die_at, self._between = die_at, between
        self._is_looking = False
        for name in self.METHODS:
            monkeypatch.setattr(RemoteFile, name, self._watched(getattr(RemoteFile, name)))

    def _watched(self, real):
        def method(store, *arguments, **options):
            if not self._is_looking:
                self._is_looking = True
                self._between()
                self._is_looking = False
                self.count += 1
                if self._die_at is not None and self.count >= self._die_at:
                    raise Killed
            return real(store, *arguments, **options)

        return method


def killed_at(store, die_at, monkeypatch):
    """Gather all rows, ended before its request of that number; whether it was ended."""
    with monkeypatch.context() as patch:
        Requests(patch, die_at=die_at)
        try:
            gather_all(store)
        except Killed:
            return True
        return False


def check_killed(store, before, monkeypatch, die_at):
    was_killed = killed_at(store, die_at, monkeypatch)
    assert_frame_equal(Reader(store.folder).scores().collect(), before["scores"])
    gather_all(store)
    assert check_store(store) == TRIALS
    assert_frame_equal(Reader(store.folder).trials().collect(), before["trials"])
    assert len(names(store)) == 2, "one file of each search"
    return was_killed


@pytest.mark.parametrize("every", [4, *soak(1)])
def test_killed_at_any_request_nothing_is_lost_and_the_next_gathering_finishes(
    memory_bucket, monkeypatch, every
):
    for die_at in range(1, 200, every):
        store = extended_store(memory_bucket / str(die_at))
        before = rows_of(store)
        if not check_killed(store, before, monkeypatch, die_at):
            break
    assert die_at > 8


def test_killed_at_any_request_to_s3_nothing_is_lost(bucket, monkeypatch):
    whole = extended_store(bucket / "whole")
    before = rows_of(whole)
    with monkeypatch.context() as patch:
        requests = Requests(patch)
        gather_all(whole)
    for die_at in random.Random(3).sample(range(1, requests.count), 3):
        store = extended_store(bucket / str(die_at))
        assert check_killed(store, before, monkeypatch, die_at)


def test_readers_see_the_same_rows_between_any_two_requests(bucket, monkeypatch):
    store = extended_store(bucket)
    before = rows_of(store)["trials"]

    def look():
        assert_frame_equal(Reader(store.folder).trials().collect(), before)

    with monkeypatch.context() as patch:
        requests = Requests(patch, between=look)
        gather_all(store)
    assert requests.count > 8


def test_plain_polars_counts_each_trial_once_between_any_two_requests(
    bucket, s3_service, monkeypatch
):
    store = commit(new_store(bucket), *(row(index) for index in range(3)))
    gather_all(store)
    commit(store, *(row(index) for index in range(3, 6)))
    options = {
        "aws_endpoint_url": f"http://{s3_service}",
        "aws_access_key_id": KEY,
        "aws_secret_access_key": SECRET,
        "aws_region": "us-east-1",
        "aws_allow_http": "true",
    }
    pattern = f"s3://{store.folder.authority}/{store.folder.key}/trials/**/*.parquet"

    def look():
        rows = pl.scan_parquet(pattern, storage_options=options).unique("trial_id")
        assert rows.collect()["trial_id"].sort().to_list() == [f"t00{it}" for it in range(6)]

    with monkeypatch.context() as patch:
        Requests(patch, between=look)
        gather_all(store)
    look()


def test_a_store_that_is_away_while_rows_are_gathered_costs_only_time(s3_service, monkeypatch):
    monkeypatch.setattr(transient_errors, "_FIRST_PAUSE_SECONDS", 0.02)
    with proxied(s3_service) as (proxy, bucket):
        store = extended_store(bucket)
        before = rows_of(store)
        numbers, pause = itertools.count(), 0.1
        away = []

        def fault(method, path):
            if next(numbers) % 4 == 2:  # again and again, for a moment
                away.append(time.monotonic())
            return "reset" if away and time.monotonic() < away[-1] + pause else None

        proxy.fault = fault
        gather_all(store)
        proxy.fault = lambda method, path: None
        assert len(away) > 2
        assert_same_frames(rows_of(store), before)
        assert check_store(StudyPaths(store.folder)) == TRIALS
