import hashlib
import multiprocessing
import os
import stat
import threading

import pytest

from trainables.errors import TrialInputError
from trainables.file_caches.file_hashes import file_hashes
from trainables.file_caches.file_locks import file_lock

HOUR_NS = 3_600_000_000_000


@pytest.fixture
def paths(tmp_path):
    """Files that were last written an hour ago."""
    root = tmp_path / "root"
    found = [root / folder / f"{n}.jpg" for folder in "ab" for n in range(10)]
    for number, path in enumerate(found):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes([number]) * 100)
        earlier = path.stat().st_mtime_ns - HOUR_NS
        os.utime(path, ns=(earlier, earlier))
    return found


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def overwrite_unseen(path):
    """Other bytes with the size and the time of before, which only a look inside can tell."""
    status = path.stat()
    path.write_bytes(b"x" * status.st_size)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_they_are_those_of_the_bytes_in_the_order_of_the_paths(paths, tmp_path):
    order = paths[::-1]
    assert file_hashes(order, tmp_path / "cache") == tuple(map(sha256, order))
    assert file_hashes([], tmp_path / "cache") == ()


def test_later_only_size_and_time_are_looked_at(paths, tmp_path):
    first = file_hashes(paths, tmp_path / "cache")
    overwrite_unseen(paths[3])
    assert file_hashes(paths, tmp_path / "cache") == first
    assert file_hashes(paths, tmp_path / "other cache") == tuple(map(sha256, paths))


@pytest.mark.parametrize("content", [b"y" * 100, b"longer" * 100])
def test_a_file_with_another_time_or_size_is_hashed_again(paths, tmp_path, content):
    file_hashes(paths, tmp_path / "cache")
    before = paths[3].stat().st_mtime_ns
    paths[3].write_bytes(content)
    if len(content) > 100:
        os.utime(paths[3], ns=(before, before))
    assert file_hashes(paths, tmp_path / "cache") == tuple(map(sha256, paths))


def test_a_file_that_was_written_just_now_is_not_remembered(paths, tmp_path):
    """It may be written once more within one tick of the file system's clock."""
    paths[3].write_bytes(b"y" * 100)
    file_hashes(paths, tmp_path / "cache")
    overwrite_unseen(paths[3])
    assert file_hashes(paths, tmp_path / "cache") == tuple(map(sha256, paths))


def test_a_part_of_a_tree_is_remembered_with_the_rest(paths, tmp_path):
    file_hashes(paths[:5] + paths[-5:], tmp_path / "cache")
    file_hashes(paths[3:-3], tmp_path / "cache")
    (memory,) = (tmp_path / "cache" / "file_hashes").glob("*.json")
    before = memory.stat().st_mtime_ns
    file_hashes(paths, tmp_path / "cache")
    assert memory.stat().st_mtime_ns == before


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"a/0.jpg": 3}', b'{"a/0.jpg": "no"}'])
def test_a_damaged_memory_is_made_anew(paths, tmp_path, content):
    first = file_hashes(paths, tmp_path / "cache")
    (memory,) = (tmp_path / "cache" / "file_hashes").glob("*.json")
    whole = memory.read_bytes()
    memory.write_bytes(content)
    assert file_hashes(paths, tmp_path / "cache") == first
    assert memory.read_bytes() == whole


def test_a_cache_folder_that_cannot_be_written_is_reported_and_done_without(
    paths, tmp_path, capsys
):
    (tmp_path / "cache").write_text("not a folder")
    assert file_hashes(paths, tmp_path / "cache") == tuple(map(sha256, paths))
    assert "cannot be written (Not a directory); files will be hashed again" in (
        capsys.readouterr().err
    )


def test_others_may_read_the_memory(paths, tmp_path):
    file_hashes(paths, tmp_path / "cache")
    mask = os.umask(0)
    os.umask(mask)
    for file in (tmp_path / "cache" / "file_hashes").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~mask


def test_processes_at_once_all_get_them_and_leave_one_memory(paths, tmp_path):
    context = multiprocessing.get_context("spawn")
    with context.Pool(3) as pool:
        found = pool.starmap(file_hashes, [(paths, tmp_path / "cache")] * 3, chunksize=1)
    assert found == [tuple(map(sha256, paths))] * 3
    names = sorted(file.suffix for file in (tmp_path / "cache" / "file_hashes").iterdir())
    assert names == [".json", ".lock"]


def test_where_nothing_changed_no_process_waits_for_another(paths, tmp_path):
    """Workers that start together on 100,000 known files look at them at the same time."""
    first = file_hashes(paths, tmp_path / "cache")
    (memory,) = (tmp_path / "cache" / "file_hashes").glob("*.json")
    found = []
    with file_lock(memory.with_suffix(".lock"), doing="a test"):
        another = threading.Thread(
            target=lambda: found.append(file_hashes(paths, tmp_path / "cache")), daemon=True
        )
        another.start()
        another.join(timeout=10)
    assert found == [first]


def test_a_file_that_is_not_there_is_named(paths, tmp_path):
    paths[7].unlink()
    with pytest.raises(TrialInputError, match=r"a/7\.jpg cannot be read: No such file"):
        file_hashes(paths, tmp_path / "cache")
