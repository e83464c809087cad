import hashlib
import multiprocessing
import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.file_hashes import file_hashes, read_anew
from podium.trainables.file_caches.file_locks import file_lock

HOUR_NS = 3_600_000_000_000


@pytest.fixture
def paths(tmp_path, monkeypatch):
    """Files that count as written long ago."""
    monkeypatch.setattr("podium.trainables.file_caches.file_hashes._YOUNGEST_NS", -HOUR_NS)
    root = tmp_path / "root"
    found = [root / folder / f"{n}.jpg" for folder in "ab" for n in range(10)]
    for number, path in enumerate(found):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes([number]) * 100)
    return found


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def overwrite(path):
    """Other bytes with the size and the time of before."""
    status = path.stat()
    path.write_bytes(b"x" * status.st_size)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def replace(path):
    """As `overwrite`, by another file of that name, as a copying program does."""
    path.with_suffix(".new").write_bytes(b"x" * path.stat().st_size)
    shutil.copystat(path, path.with_suffix(".new"))
    path.with_suffix(".new").rename(path)


def test_they_are_those_of_the_bytes_in_the_order_of_the_paths(paths, tmp_path):
    order = paths[::-1]
    assert file_hashes(order, tmp_path / "cache") == tuple(map(sha256, order))
    assert file_hashes([], tmp_path / "cache") == ()


def test_what_looks_as_before_is_not_read_unless_it_is_asked_for(paths, tmp_path, monkeypatch):
    first = file_hashes(paths, tmp_path / "cache")
    read, real = [], Path.read_bytes

    def noted(path):
        read.append(path.suffix)
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", noted)
    assert file_hashes(paths, tmp_path / "cache") == first
    assert ".jpg" not in read
    with read_anew():
        assert file_hashes(paths, tmp_path / "cache") == first
        assert file_hashes(paths[:3], tmp_path / "cache") == first[:3]
    assert read.count(".jpg") == len(paths) + 3
    read.clear()
    assert file_hashes(paths, tmp_path / "cache") == first
    assert ".jpg" not in read, "what was read anew stays remembered, and so does the rest"


@pytest.mark.parametrize("change", [overwrite, replace, lambda path: path.write_bytes(b"longer")])
def test_a_changed_file_is_hashed_again_whatever_its_size_and_time(paths, tmp_path, change):
    file_hashes(paths, tmp_path / "cache")
    change(paths[3])
    assert file_hashes(paths, tmp_path / "cache") == tuple(map(sha256, paths))


def test_a_file_that_was_written_just_now_is_not_remembered(paths, tmp_path, monkeypatch):
    """It may be written once more within one tick of the file system's clock."""
    monkeypatch.setattr("podium.trainables.file_caches.file_hashes._YOUNGEST_NS", HOUR_NS)
    file_hashes(paths, tmp_path / "cache")
    assert not list((tmp_path / "cache" / "file_hashes").glob("*.json"))


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


def test_processes_at_once_all_get_them_and_leave_one_memory(paths, tmp_path):
    time.sleep(2.1)  # the other processes have files of this moment for young
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
