"""A whole store in a bucket of a service, and in one of this process's memory."""

import itertools
import tempfile
import time
from contextlib import suppress

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.errors import CorruptFileError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage import local_copies, transient_errors
from podium.orchestrator.results.storage.files import list_files, put, read_bytes
from podium.orchestrator.results.storage.object_store import RemoteFile
from podium.orchestrator.results.trial_files.commit_trials import commit_trial
from podium.orchestrator.results.trial_files.gather_trials import gather_all
from podium.orchestrator.results.trial_files.reader import Reader
from tests.object_store import KEY, SECRET, proxied
from tests.orchestrator.results.extended_stores import TRIALS, extended_store, rows_of
from tests.orchestrator.results.file_operations import Killed
from tests.orchestrator.results.store_frames import assert_same_frames
from tests.orchestrator.results.store_rows import SCHEMA, check_store, commit, new_store, row
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
    assert not commit_trial(store, SCHEMA, row(0, objective=0.9))  # and is not kept as its copy
    assert Reader(store.folder).trials().collect()["objective"].to_list() == [0.5]
    gather_all(store)
    assert not commit_trial(store, SCHEMA, row(0, objective=0.9))
    assert Reader(store.folder).trials().collect()["objective"].to_list() == [0.5]
    assert check_store(store) == 1


@pytest.mark.parametrize("change", [lambda it: b"PAR1", lambda it: it[:500] + b"x" + it[501:]])
def test_a_damaged_file_is_named_by_its_place_in_the_store(folder, change):
    store = commit(new_store(folder), row(0), row(1))
    put(store.trial("s1", "t001"), change(read_bytes(store.trial("s1", "t001"))))
    name = r"(s3|memory)://.*/trials/search=s1/t001\.parquet"
    with pytest.raises(CorruptFileError, match=name):
        Reader(store.folder).trials().collect()
    with pytest.raises(CorruptFileError, match=name):
        check_store(store)


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


@pytest.mark.parametrize("every", [4, *soak(1)])
def test_killed_at_any_request_nothing_is_lost_and_the_next_gathering_finishes(
    memory_bucket, monkeypatch, every
):
    for die_at in range(1, 200, every):
        store = extended_store(memory_bucket / str(die_at))
        before = rows_of(store)
        with monkeypatch.context() as patch:
            requests = Requests(patch, die_at=die_at)
            with suppress(Killed):
                gather_all(store)
        assert_frame_equal(Reader(store.folder).scores().collect(), before["scores"])
        gather_all(store)
        assert check_store(store) == TRIALS
        assert_frame_equal(Reader(store.folder).trials().collect(), before["trials"])
        assert len(names(store)) == 2, "one file of each search"
        if requests.count < die_at:
            break
    assert die_at > 8


def test_podium_and_plain_polars_read_each_trial_once_between_any_two_requests(
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
        assert_frame_equal(Reader(store.folder).trials().collect(), before)

    before = Reader(store.folder).trials().collect()
    with monkeypatch.context() as patch:
        requests = Requests(patch, between=look)
        gather_all(store)
    assert requests.count > 8
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
