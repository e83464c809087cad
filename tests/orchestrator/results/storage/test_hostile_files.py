"""Files of an attacker: links, pipes, devices, sizes and names that do harm when they are read."""

import os
import socket
from pathlib import Path

import pytest

from orchestrator.results.storage import files
from orchestrator.results.storage.local_copies import local_copy
from podium.errors import CorruptFileError
from tests.object_store import proxied

READERS = {
    "bytes": files.read_bytes,
    "record": files.read_record,
    "exists": files.exists,
    "copy": local_copy,
}


def endless(place: Path) -> None:
    place.symlink_to("/dev/zero")


def other_file(place: Path) -> None:
    place.with_name("other").write_text("{}")
    place.symlink_to("other")


def nothing(place: Path) -> None:
    place.symlink_to("nowhere")


def listening(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))


TRAPS = {
    "a symbolic link": endless,
    "a symbolic link ": other_file,
    "a symbolic link  ": nothing,
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a socket": listening,
}


@pytest.fixture
def near(tmp_path, monkeypatch):
    """A folder whose paths are short enough for a socket."""
    monkeypatch.chdir(tmp_path)
    return Path()


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("trap", TRAPS)
def test_what_is_no_regular_file_is_refused_and_not_waited_for(near, trap, reader):
    TRAPS[trap](near / "x.json")
    with pytest.raises(CorruptFileError, match=rf"^x\.json is {trap.strip()}, which podium"):
        READERS[reader](near / "x.json")


def test_a_device_is_refused():
    with pytest.raises(CorruptFileError, match=r"/dev/zero is a device"):
        files.read_bytes(Path("/dev/zero"))


def test_a_record_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    with (tmp_path / "x.json").open("wb") as file:
        file.truncate(files.RECORD_BYTES + 1)
    with pytest.raises(
        CorruptFileError, match=r"x\.json has 67,108,865 bytes, .* at most 67,108,864"
    ):
        files.read_record(tmp_path / "x.json")


def test_a_record_of_the_largest_size_is_read(tmp_path):
    with (tmp_path / "x.json").open("wb") as file:
        file.truncate(files.RECORD_BYTES)
    content = files.read_record(tmp_path / "x.json")
    assert content is not None
    assert len(content) == files.RECORD_BYTES


def test_no_file_that_is_larger_than_memory_is_read(tmp_path):
    with (tmp_path / "state.pt").open("wb") as file:
        file.truncate(2**43)  # without a block on the disk
    with pytest.raises(CorruptFileError, match=r"state\.pt has 8,796,093,022,208 bytes, and was"):
        files.read_bytes(tmp_path / "state.pt")


def test_an_object_that_is_too_large_is_refused_before_it_is_read(s3_service):
    with proxied(s3_service) as (_, bucket):
        files.put(bucket / "x.json", bytes(files.RECORD_BYTES + 1))
        with pytest.raises(CorruptFileError, match=r"x\.json.* has 67,108,865 bytes"):
            files.read_record(bucket / "x.json")
        assert len(files.read_bytes(bucket / "x.json") or b"") == files.RECORD_BYTES + 1


@pytest.mark.parametrize("name", ["x\nNo problems.json", "x\u202ey.json", "x\x1b[2Jy.json"])
def test_a_name_that_would_forge_a_line_is_refused_where_files_are_listed(tmp_path, name):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / name).touch()
    for listing in (
        lambda: files.list_names(tmp_path / "below", ".json"),
        lambda: files.list_below(tmp_path, ".json"),
    ):
        with pytest.raises(CorruptFileError, match="a name with control characters") as refused:
            listing()
        assert str(refused.value).isprintable()


def test_a_folder_with_such_a_name_is_refused_too(tmp_path):
    (tmp_path / "x\nNo problems").mkdir()
    for listing in (files.list_folders, lambda folder: files.list_below(folder, ".json")):
        with pytest.raises(CorruptFileError, match=r"holds 'x\\nNo problems', a name with"):
            listing(tmp_path)


def test_an_object_with_such_a_name_is_refused_too(s3_service):
    with proxied(s3_service) as (_, bucket):
        files.put(bucket / "asks" / "s" / "x\u202ey.json", b"{}")
        for listing in (
            lambda: files.list_names(bucket / "asks" / "s", ".json"),
            lambda: files.list_below(bucket / "asks", ".json"),
        ):
            with pytest.raises(CorruptFileError, match="a name with control characters"):
                listing()


def test_a_folder_that_is_a_link_is_not_listed(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "t0").symlink_to(tmp_path / "outside")
    for listing in (files.list_folders, lambda folder: files.list_below(folder, ".json")):
        with pytest.raises(CorruptFileError, match=r"t0 is a symbolic link"):
            listing(tmp_path / "inside")
    assert files.list_studies(tmp_path / "inside") == [tmp_path / "inside" / "t0"]


def test_a_file_in_place_of_a_folder_is_named(tmp_path):
    (tmp_path / "asks").touch()
    for listing in (files.list_folders, lambda folder: files.list_names(folder, "")):
        with pytest.raises(CorruptFileError, match=r"asks is a file, where podium has a folder"):
            listing(tmp_path / "asks")


def test_contents_are_all_there_is_with_its_kind_and_lead_nowhere(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "x").touch()
    (tmp_path / "a" / "b" / "up").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "p")
    assert files.contents(tmp_path) == [
        ("a", "folder"),
        ("a/b", "folder"),
        ("a/b/up", "a symbolic link"),
        ("a/x", "file"),
        ("p", "a pipe"),
    ]
    assert files.contents(tmp_path / "none") == []
