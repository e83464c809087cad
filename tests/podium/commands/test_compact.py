import pytest

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import exists
from orchestrator.results.storage.locations import RemotePath
from orchestrator.results.storage.remote_files import total_size
from tests.orchestrator.results.store_rows import commit, new_store, row
from tests.podium.calling import call


@pytest.mark.parametrize(
    ("number", "printed"), [(1, "1 trial file gathered"), (2, "2 trial files")]
)
def test_trial_files_are_gathered_and_counted(tmp_path, capsys, number, printed):
    paths = commit(new_store(tmp_path), *map(row, range(number)))
    called = call(capsys, "compact", paths.folder)
    assert called.code == 0
    assert called.out.startswith(printed)
    assert len(list(paths.segments.glob("*.parquet"))) == 1


def test_where_there_is_no_study_nothing_is_written(tmp_path, bucket, capsys):
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", bucket / "typo"):
        called = call(capsys, "compact", folder)
        assert called.code == 2
        assert "is not a results folder of podium: it has no store.json" in called.err
    assert [path.name for path in tmp_path.rglob("*")] == ["empty"]
    assert _is_empty(StudyPaths(bucket / "typo"))


def _is_empty(paths):
    assert isinstance(paths.lock_generations, RemotePath)
    return not exists(paths.store) and total_size(paths.lock_generations, "") == 0
