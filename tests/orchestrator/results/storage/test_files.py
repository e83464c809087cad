import os
import resource
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from orchestrator.results.storage import files
from orchestrator.results.storage.checksummed_text import read_checksummed
from orchestrator.results.storage.local_files import exclusive, writing
from podium.errors import CorruptFileError, StoreError


def file_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_first_to_put_an_absent_file_wins(tmp_path):
    path = tmp_path / "file"
    assert files.put_if_absent(path, b"first")
    assert not files.put_if_absent(path, b"second")
    assert files.read_bytes(path) == b"first"
    assert file_names(tmp_path) == ["file"]


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
        files.read_json(tmp_path / "x.json")


@pytest.mark.parametrize(
    "text",
    ['{"a": NaN}', '{"a": -Infinity}', '{"a": 1e999}', '{"a": -1e999}', f'{{"a": {9**400}.0}}'],
)
def test_a_number_that_is_not_finite_is_named(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(CorruptFileError, match=r"x\.json is not valid JSON: .* is not a number"):
        files.read_json(tmp_path / "x.json")


@pytest.mark.parametrize("depth", [*range(900, 1001, 4), 100_000])
def test_json_that_is_too_deep_is_named(tmp_path, depth):
    values = "[" * depth + "]" * depth
    (tmp_path / "x.json").write_text(f'{{"sha256": "", "a": {values}}}')
    with pytest.raises(CorruptFileError, match=r"x\.json (is nested too|was changed)"):
        read_checksummed(tmp_path / "x.json")


def test_json_that_is_no_object_is_named(tmp_path):
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(CorruptFileError, match=r"x\.json holds a JSON list, not an object"):
        files.read_json(tmp_path / "x.json")


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


def test_of_many_that_replace_a_file_at_once_none_undoes_what_another_did(tmp_path):
    place, guard = tmp_path / "number", tmp_path / "guard"
    files.put(place, b"0")

    def add_one(_):
        while True:
            known = files.read_bytes(place)
            new = b"%d" % (int(known) + 1)
            with suppress(StoreError):  # another was first
                files.replace(place, new, guard, lambda found: found == known)  # noqa: B023
                return

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_one, range(100)))
    assert files.read_bytes(place) == b"100"


def test_a_guard_is_held_by_one_at_a_time_and_freed(tmp_path):
    guard = tmp_path / "deep" / "guard"
    first, second = (exclusive(guard, limit_seconds=0.02) for _ in range(2))
    with first as is_first_alone, second as is_second_alone:
        assert is_first_alone
        assert not is_second_alone
    with exclusive(guard, limit_seconds=0) as again:
        assert again


def test_files_get_the_permissions_the_user_chose(tmp_path):
    before = os.umask(0o027)
    try:
        files.put(tmp_path / "x", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640
