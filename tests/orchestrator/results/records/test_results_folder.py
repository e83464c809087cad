import shutil

import pytest

from orchestrator.results.records.results_folder import is_present
from orchestrator.results.records.store_paths import StudyPaths
from podium.errors import StoreError
from tests.object_store import proxied
from tests.orchestrator.results.store_rows import commit, new_store, row


def heads_of(proxy):
    return [path for method, path in proxy.requests if method == "HEAD" and "store.json" in path]


def test_a_remote_folder_is_asked_for_once_by_a_process(s3_service):
    with proxied(s3_service) as (proxy, bucket):
        paths = StudyPaths(bucket / "study")
        assert not is_present(paths)
        assert not is_present(paths)  # what is not there may come
        paths = new_store(bucket)
        before = len(heads_of(proxy))
        commit(paths, row(0), row(1), row(2))
        assert is_present(paths)
        assert len(heads_of(proxy)) - before == 1
        assert not is_present(StudyPaths(bucket / "other"))


def test_a_local_folder_that_goes_away_is_noticed_at_once(tmp_path):
    paths = commit(new_store(tmp_path), row(0))
    assert is_present(paths)
    shutil.rmtree(paths.folder)
    assert not is_present(paths)
    with pytest.raises(StoreError, match="is gone"):
        commit(paths, row(1))
    assert not paths.folder.exists()
