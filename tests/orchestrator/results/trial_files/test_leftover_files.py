from pathlib import Path

from orchestrator.results.locks.study_lock import StudyLock
from orchestrator.results.records.checkpoint_files import load, save
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.compaction import remove_all_leftovers
from tests.orchestrator.results.store_rows import commit, new_store, row


def test_what_killed_processes_left_is_deleted_and_nothing_else(tmp_path):
    paths = commit(new_store(tmp_path), row(0))
    save(paths, "t000", b"its trial was committed")
    save(paths, "running", b"needed")
    before = _files(paths.folder)
    for folder in (
        "asks/s0",
        "trials/search=s0",
        "attempts/t000",
        "models",
        "embeddings",
        "runs",
        ".",
    ):
        (paths.folder / folder).mkdir(parents=True, exist_ok=True)
        (paths.folder / folder / ".store.json.0123.tmp").touch()
    (paths.folder / ".lock.json.0123.tmp").touch()  # this run may be writing it just now

    remove_all_leftovers(paths)

    assert before - _files(paths.folder) == {"checkpoints/t000/state.pt"}
    assert _files(paths.folder) - before == {".lock.json.0123.tmp"}
    assert load(paths, "running") == b"needed"


def test_the_lock_deletes_what_its_owner_left_that_was_killed_while_it_wrote(tmp_path):
    paths = StudyPaths(tmp_path)
    (tmp_path / ".lock.json.0123.tmp").touch()
    with StudyLock(paths, print):
        pass
    assert _files(tmp_path) == {paths.lock_guard.name}


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
