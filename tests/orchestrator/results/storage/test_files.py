"""Files of this machine and of buckets of each kind, each by its own protocol."""

import os
import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestrator.results.storage import files
from orchestrator.results.storage.checksummed_text import read_checksummed
from orchestrator.results.storage.local_files import writing
from orchestrator.results.storage.object_store import ObjectStore, RequestError
from podium.errors import CorruptFileError, StoreError, UnreachableError

BUCKETS = ["bucket", "google_bucket", "azure_container", "memory_bucket"]


@pytest.fixture(params=BUCKETS)
def store(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["tmp_path", *BUCKETS])
def place(request):
    """An empty folder: of this machine, or a store of each kind."""
    return request.getfixturevalue(request.param)


def read_json(path: Path) -> dict[str, object] | None:
    return files.parse_json(path, files.read_record(path))


def file_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_files_are_written_read_listed_and_deleted(place):
    folder = place / "a" / "s=x+y"
    files.check_writable(folder)
    assert files.contents(place) == []
    files.put(folder / "1.json", b"a long first version")
    files.put(folder / "1.json", b"{}")
    files.put(folder / "deep" / "2.json", b"two")
    assert files.read_bytes(folder / "1.json") == b"{}"
    assert files.exists(folder / "1.json")
    assert files.list_names(folder, ".json") == ["1.json"]
    assert files.list_folders(folder) == files.list_studies(folder) == [folder / "deep"]
    assert files.list_below(folder, ".json") == [folder / "deep" / "2.json"]
    sizes = [(file.path, file.num_bytes) for file in files.stored_files(folder)]
    assert sizes == [("1.json", 2), ("deep/2.json", 3)]
    files.remove(folder / "1.json")
    files.remove_folder(place / "a")
    assert files.contents(place) == []


def test_missing_files_and_folders_read_as_none_and_empty(place):
    missing = place / "missing"
    assert files.read_bytes(missing) is None
    assert files.read_record(missing) is None
    assert not files.exists(missing)
    for listing in (files.list_names, files.list_below):
        assert list(listing(missing, ".json")) == []
    for listing in (files.list_folders, files.list_studies, files.contents, files.stored_files):
        assert list(listing(missing)) == []
    files.remove(missing)
    files.remove_all([missing, missing / "x"])
    files.remove_folder(missing)
    files.remove_if_empty(missing)
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


def lose_answers(monkeypatch, times):
    """Make so many writes fail after they were made."""
    real, left = ObjectStore.create, [None] * times

    def request(*arguments, **named):
        made = real(*arguments, **named)
        if left:
            left.pop()
            raise RequestError("timeout", UnreachableError)
        return made

    monkeypatch.setattr(ObjectStore, "create", request)


def test_a_file_whose_answer_was_lost_counts_as_written_once(store, monkeypatch, short_pauses):
    lose_answers(monkeypatch, 1)
    assert files.put_if_absent(store / "x", b"mine")
    assert not files.put_if_absent(store / "x", b"mine")  # the same bytes are not the same call


def test_a_writer_that_fails_in_the_middle_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    files.put(path, b"old")

    def write_half():
        with writing(path) as file:
            file.write(b"half")
            raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        write_half()
    assert files.read_bytes(path) == b"old"
    assert file_names(tmp_path) == ["file"]


def test_temporary_names_are_not_listed_and_can_be_swept(tmp_path):
    with writing(tmp_path / "late.parquet"):
        (temporary,) = tmp_path.iterdir()
        assert not temporary.name.endswith(".parquet")
        assert files.list_names(tmp_path, "") == []
    (tmp_path / temporary.name).write_bytes(b"of a killed writer")
    files.remove_temporaries(tmp_path)
    assert file_names(tmp_path) == ["late.parquet"]


@pytest.mark.parametrize("text", ['{"a": 1', "", "\x00\x00"])
def test_a_truncated_json_file_is_named(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(CorruptFileError, match=r"x\.json is not valid JSON"):
        read_json(tmp_path / "x.json")


@pytest.mark.parametrize(
    "text",
    ['{"a": NaN}', '{"a": -Infinity}', '{"a": 1e999}', '{"a": -1e999}', f'{{"a": {9**400}.0}}'],
)
def test_a_number_that_is_not_finite_is_named(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(CorruptFileError, match=r"x\.json is not valid JSON: .* is not a number"):
        read_json(tmp_path / "x.json")


@pytest.mark.parametrize("depth", [*range(900, 1001, 4), 100_000])
def test_json_that_is_too_deep_is_named(tmp_path, depth):
    values = "[" * depth + "]" * depth
    (tmp_path / "x.json").write_text(f'{{"sha256": "", "a": {values}}}')
    with pytest.raises(CorruptFileError, match=r"x\.json (is nested too|was changed)"):
        read_checksummed(tmp_path / "x.json")


def test_json_that_is_no_object_is_named(tmp_path):
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(CorruptFileError, match=r"x\.json holds a JSON list, not an object"):
        read_json(tmp_path / "x.json")


def test_json_cannot_hold_nan():
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.to_json({"a": float("nan")})


def test_a_file_in_the_way_is_a_store_error_that_names_it(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(StoreError, match=r"cannot write .*/study/x: File exists \(.*/taken\)"):
        files.put(tmp_path / "taken" / "study" / "x", b"")


def test_a_folder_in_the_way_of_a_file_is_named(tmp_path):
    (tmp_path / "x").mkdir()
    with pytest.raises(StoreError, match=r"cannot write .*/x: Is a directory"):
        files.put(tmp_path / "x", b"")
    with pytest.raises(CorruptFileError, match=r"/x is a folder, which podium neither"):
        files.read_bytes(tmp_path / "x")
    assert file_names(tmp_path) == ["x"]


def test_a_storage_that_could_be_written_is_left_as_it_was(tmp_path):
    files.check_writable(tmp_path / "new" / "study")
    assert file_names(tmp_path) == []


def test_a_storage_behind_a_file_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(StoreError, match=r"cannot write in .*/taken/study: Not a directory"):
        files.check_writable(tmp_path / "taken" / "study")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs Linux's /proc")
def test_a_storage_that_cannot_be_made_is_refused():
    with pytest.raises(StoreError, match=r"cannot write in /proc/podium/study: .+"):
        files.check_writable(Path("/proc/podium/study"))
    with pytest.raises(StoreError, match=r"cannot write /proc/podium/x: .+\(/proc/podium\)"):
        files.put(Path("/proc/podium/x"), b"")


def test_a_disk_without_room_is_a_store_error_and_leaves_the_old_file(tmp_path):
    files.put(tmp_path / "x", b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(StoreError, match=r"cannot write .*/x: File too large"):
            files.put(tmp_path / "x", bytes(10_000))
        with pytest.raises(StoreError, match=r"cannot write .*/y: File too large"):
            files.put_if_absent(tmp_path / "y", bytes(10_000))
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
