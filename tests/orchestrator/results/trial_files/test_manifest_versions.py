"""A process remembers the manifest, and notices at once when it is replaced."""

import os
import shutil
import time

import pytest

from orchestrator.results.records.study_snapshot import read_schema
from orchestrator.results.storage.files import remove
from orchestrator.results.trial_files import compaction_manifest as manifest_module
from orchestrator.results.trial_files.commit_trials import commit_trial
from orchestrator.results.trial_files.compaction import compact
from orchestrator.results.trial_files.compaction_manifest import read_manifest
from orchestrator.results.trial_files.integrity import check_store
from tests.object_store import proxied
from tests.orchestrator.results.store_rows import SCHEMA, commit, new_store, row


@pytest.fixture
def parsed(monkeypatch):
    """The times at which a manifest was read and not remembered."""
    real, times = manifest_module._parsed, []
    monkeypatch.setattr(
        manifest_module, "_parsed", lambda *given: times.append(time.time()) or real(*given)
    )
    return times


def aged(path, seconds=10):
    """The file as if it had been written so long ago."""
    before = path.stat().st_mtime_ns - seconds * 10**9
    os.utime(path, ns=(before, before))


def test_a_manifest_is_read_once_while_it_stays(tmp_path, parsed):
    store = commit(new_store(tmp_path), row(0))
    compact(store)
    aged(store.manifest)
    read_manifest(store)
    parsed.clear()
    for index in range(5):
        assert not commit_trial(store, SCHEMA, row(0))
        assert commit_trial(store, SCHEMA, row(index + 1))
    assert parsed == []


def test_a_manifest_that_was_just_written_is_read_each_time(tmp_path, parsed):
    """Its clock cannot tell it from one that follows in the same moment."""
    store = commit(new_store(tmp_path), row(0))
    compact(store)
    parsed.clear()
    for _ in range(3):
        read_manifest(store)
    assert len(parsed) == 3


def test_a_replacement_of_the_same_size_and_time_is_noticed(tmp_path):
    store = commit(new_store(tmp_path), row(0))
    compact(store)
    other = commit(new_store(tmp_path / "other"), row(1))
    compact(other)
    aged(store.manifest)
    (before,) = read_manifest(store).segments
    assert before.num_trials == 1
    assert other.manifest.stat().st_size == store.manifest.stat().st_size
    time_ns = store.manifest.stat().st_mtime_ns
    os.utime(other.manifest, ns=(time_ns, time_ns))
    for file in other.segments.iterdir():
        shutil.copy(file, store.segments)
    other.manifest.replace(store.manifest)
    assert store.manifest.stat().st_mtime_ns == time_ns
    (after,) = read_manifest(store).segments
    assert after.path != before.path


def test_a_manifest_that_follows_in_the_same_inode_and_moment_is_noticed(tmp_path):
    store = commit(new_store(tmp_path), row(0))
    compact(store)
    (before,) = read_manifest(store).segments
    other = commit(new_store(tmp_path / "other"), row(1))
    compact(other)
    found = store.manifest.stat()
    store.manifest.write_bytes(other.manifest.read_bytes())
    os.utime(store.manifest, ns=(found.st_mtime_ns, found.st_mtime_ns))
    again = store.manifest.stat()
    assert (again.st_ino, again.st_size, again.st_mtime_ns) == (
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
    )
    (after,) = read_manifest(store).segments
    assert after.path.name != before.path.name


def test_a_manifest_that_is_gone_is_noticed(tmp_path):
    store = commit(new_store(tmp_path), row(0))
    compact(store)
    aged(store.manifest)
    assert read_manifest(store).num_trials == 1
    store.manifest.unlink()
    assert read_manifest(store).num_trials == 0


def test_a_commit_to_s3_costs_three_requests_and_no_bytes_of_the_manifest(s3_service):
    with proxied(s3_service) as (proxy, bucket):
        store = commit(new_store(bucket), *(row(index) for index in range(3)))
        compact(store)
        assert not commit_trial(store, SCHEMA, row(0))  # manifest and listing are known now
        schema = read_schema(store)
        proxy.requests.clear()
        proxy.statuses.clear()
        assert commit_trial(store, schema, row(7))
        kinds = [(method, path.rpartition("/")[2]) for method, path in proxy.requests]
        assert kinds == [
            ("GET", "manifest.json"),
            ("PUT", "t007.parquet"),
            ("GET", "manifest.json"),
        ]
        assert proxy.statuses == [304, 200, 304]
        proxy.requests.clear()
        assert not commit_trial(store, schema, row(0))
        assert [method for method, _ in proxy.requests] == ["GET"]
        compact(store)
        assert not commit_trial(store, schema, row(7))
        assert check_store(store) == 4


def test_a_manifest_in_a_bucket_is_noticed_when_it_is_replaced_or_gone(
    bucket, google_bucket, memory_bucket
):
    for place in (bucket, google_bucket, memory_bucket):
        store = commit(new_store(place), row(0))
        compact(store)
        assert read_manifest(store).num_trials == 1
        assert read_manifest(store).num_trials == 1
        compact(commit(store, row(1)))
        assert read_manifest(store).num_trials == 2
        remove(store.manifest)
        assert read_manifest(store).num_trials == 0
