from podium.orchestrator.results.records import checkpoint_files
from tests.orchestrator.results.store_rows import new_store


def test_a_checkpoint_is_the_last_one_saved_until_it_is_deleted(tmp_path):
    paths = new_store(tmp_path)
    assert checkpoint_files.load(paths, "t0") is None
    checkpoint_files.save(paths, "t0", b"\x00first, longer")
    checkpoint_files.save(paths, "t0", b"\x00second")
    checkpoint_files.save(paths, "t1", b"other")
    assert checkpoint_files.load(paths, "t0") == b"\x00second"
    checkpoint_files.delete(paths, "t0")
    checkpoint_files.delete(paths, "t0")
    assert checkpoint_files.load(paths, "t0") is None
    assert not paths.checkpoint_folder("t0").exists()
    assert checkpoint_files.load(paths, "t1") == b"other"
