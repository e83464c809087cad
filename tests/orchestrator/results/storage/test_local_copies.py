"""Copies of remote files on this machine."""

import resource
import tempfile

import pytest

from podium.errors import CorruptFileError, StoreError
from podium.orchestrator.results.storage import files
from podium.orchestrator.results.storage import local_copies as mirror
from podium.orchestrator.results.storage.local_copies import local_copies
from podium.orchestrator.results.trial_files.parquet_file import verified
from tests.object_store import proxied


def test_missing_room_for_copies_is_reported_and_no_file_is_called_damaged(bucket, monkeypatch):
    place = bucket / "full.parquet"
    files.put(place, bytes(100_000))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(StoreError, match=r"cannot copy s3://.*full.*: File too large"):
            verified(place)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with pytest.raises(CorruptFileError, match="not a readable Parquet file"):
        verified(place)
    with monkeypatch.context() as patch:
        patch.setattr(mirror, "_folder", mirror._folder.__wrapped__)
        patch.setattr(tempfile, "tempdir", "/nonexistent/podium")
        with pytest.raises(StoreError, match=r"cannot copy s3://.*: No such file"):
            verified(place)


def test_copies_are_fetched_once_in_parallel_and_private(s3_service, tmp_path):
    with proxied(s3_service) as (proxy, bucket):
        places = [bucket / f"{number}.parquet" for number in range(20)]
        for place in places:
            files.put(place, place.name.encode())
        proxy.requests.clear()
        copies = local_copies(places)
        assert [copy.read_text() for copy in copies] == [place.name for place in places]
        assert local_copies([*places, *places]) == copies * 2
        assert len(proxy.requests) == len(places)
        assert copies[0].parent.stat().st_mode & 0o077 == 0
        # What is missing is left for its reader to report.
        assert not local_copies([bucket / "none.parquet"])[0].exists()
    assert local_copies([tmp_path / "absent"]) == [tmp_path / "absent"]
