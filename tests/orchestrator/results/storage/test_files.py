"""Files of this machine and of buckets of each kind, each by its own protocol."""

import os
import resource
from concurrent.futures import ThreadPoolExecutor

import pytest

from podium.errors import CorruptFileError, StoreError, UnreachableError
from podium.orchestrator.results.storage import files
from podium.orchestrator.results.storage.local_files import writing
from podium.orchestrator.results.storage.object_store import RemoteFile

BUCKETS = ["bucket", "google_bucket", "azure_container", "memory_bucket"]


@pytest.fixture(params=["tmp_path", *BUCKETS])
def place(request):
    """An empty folder: of this machine, or a store of each kind."""
    return request.getfixturevalue(request.param)


def file_names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_files_are_written_read_listed_and_deleted(place):
    folder = place / "top" / "x"
    files.check_writable(folder)
    assert files.contents(place) == []
    files.put(folder / "1.json", b"a long first version")
    for name in ("x/1.json", "x/s=b/3.json", "x/s=a:b+c/2.json", "x/s=b/.4.tmp", "xy/5.json"):
        files.put(place / "top" / name, name.encode())
    assert files.read_bytes(folder / "1.json") == b"x/1.json"
    assert files.exists(folder / "1.json")
    assert files.list_files(folder, ".json") == [folder / "1.json"]
    below = files.list_files(folder, "", in_subfolders=True)
    assert below == [folder / "s=a:b+c/2.json", folder / "s=b/3.json"]
    subfolders = [folder / "s=a:b+c", folder / "s=b"]
    assert files.list_folders(folder) == files.list_studies(folder) == subfolders
    stored = [(file.path, file.num_bytes) for file in files.stored_files(folder)]
    expected = [("1.json", 8), ("s=a:b+c/2.json", 16), ("s=b/.4.tmp", 12), ("s=b/3.json", 12)]
    assert stored == expected
    files.remove(folder / "1.json")
    files.remove(*(folder / path for path, *_ in files.stored_files(folder)))
    files.remove(place / "top/xy/5.json", place / "top/absent")
    assert files.stored_files(place) == []


def test_missing_files_and_folders_read_as_none_and_empty(place):
    missing = place / "missing"
    assert files.read_bytes(missing) is files.read_bytes(missing) is None
    assert not files.exists(missing)
    for in_subfolders in (True, False):
        assert files.list_files(missing, ".json", in_subfolders=in_subfolders) == []
    for listing in (files.list_folders, files.list_studies, files.contents, files.stored_files):
        assert listing(missing) == []
    files.remove(missing)
    files.remove()
    files.remove_temporaries(missing)
    assert files.contents(place) == []


def test_of_many_writers_at_once_exactly_one_wins_and_its_bytes_are_there(place):
    def write(number):
        return files.put_if_absent(place / "file", bytes([number]) * 1000)

    with ThreadPoolExecutor(12) as pool:
        won = [number for number, first in enumerate(pool.map(write, range(12))) if first]
    assert len(won) == 1
    assert files.read_bytes(place / "file") == bytes(won) * 1000
    assert files.contents(place) == [("file", "file")]


@pytest.mark.parametrize("kind", BUCKETS)
def test_a_file_whose_answer_was_lost_counts_as_written_once(
    request, kind, monkeypatch, short_pauses
):
    store = request.getfixturevalue(kind)
    real, left = RemoteFile.create, [None]

    def create(*arguments):
        made = real(*arguments)
        if left:
            left.pop()
            raise UnreachableError("timeout")
        return made

    monkeypatch.setattr(RemoteFile, "create", create)
    assert files.put_if_absent(store / "x", b"mine")
    assert not files.put_if_absent(store / "x", b"mine")  # the same bytes are not the same call


def test_a_writer_that_fails_in_the_middle_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file.parquet"
    files.put(path, b"old")

    def write_half():
        with writing(path) as file:
            file.write(b"half")
            (temporary,) = {*tmp_path.iterdir()} - {path}
            assert not temporary.name.endswith(".parquet")
            assert files.list_files(tmp_path, "") == [path]
            raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        write_half()
    assert files.read_bytes(path) == b"old"
    assert file_names(tmp_path) == [path.name]
    (tmp_path / ".file.parquet.0123.tmp").write_bytes(b"of a killed writer")
    files.remove_temporaries(tmp_path)
    assert file_names(tmp_path) == [path.name]


def test_what_is_in_the_way_is_named(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(StoreError, match=r"cannot write .*/study/x: File exists \(.*/taken\)"):
        files.put(tmp_path / "taken" / "study" / "x", b"")
    with pytest.raises(StoreError, match=r"cannot write .*: File exists \(.*/taken\)"):
        files.check_writable(tmp_path / "taken" / "study")
    (tmp_path / "x").mkdir()
    with pytest.raises(StoreError, match=r"cannot write .*/x: Is a directory"):
        files.put(tmp_path / "x", b"")
    with pytest.raises(CorruptFileError, match=r"/x is a folder, which podium neither"):
        files.read_bytes(tmp_path / "x")
    files.check_writable(tmp_path / "new" / "study")
    assert file_names(tmp_path) == ["taken", "x"]


@pytest.mark.parametrize("write", [files.put, files.put_if_absent])
def test_a_disk_without_room_is_a_store_error_and_leaves_the_old_file(tmp_path, write):
    files.put(tmp_path / "x", b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(StoreError, match=r"cannot write .*/x: File too large"):
            write(tmp_path / "x", bytes(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert files.read_bytes(tmp_path / "x") == b"old"
    assert file_names(tmp_path) == ["x"]


def test_files_get_the_permissions_the_user_chose(tmp_path):
    before = os.umask(0o027)
    try:
        files.put(tmp_path / "x", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640
