"""Files of an attacker: links, pipes, devices, sizes and names that do harm when they are read."""

import os
import socket
from functools import partial
from pathlib import Path

import pytest

from podium.errors import CorruptFileError
from podium.orchestrator.results.storage import files
from podium.orchestrator.results.storage.local_copies import local_copy

READERS = {
    "bytes": files.read_bytes,
    "exists": files.exists,
    "copy": local_copy,
}
directly = partial(files.list_files, suffix="")
in_subfolders = partial(files.list_files, suffix="", in_subfolders=True)


def listening(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))


TRAPS = {
    "a symbolic link": lambda place: place.symlink_to("/dev/zero"),
    "a symbolic link ": lambda place: place.symlink_to("other"),
    "a symbolic link  ": lambda place: place.symlink_to("nowhere"),
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a socket": listening,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("trap", TRAPS)
def test_what_is_no_regular_file_is_refused_and_not_waited_for(
    tmp_path, monkeypatch, trap, reader
):
    monkeypatch.chdir(tmp_path)  # for a path that is short enough for a socket
    Path("other").write_text("{}")
    TRAPS[trap](Path("x.json"))
    with pytest.raises(CorruptFileError, match=rf"^x\.json is {trap.strip()}, which podium"):
        READERS[reader](Path("x.json"))
    with pytest.raises(CorruptFileError, match=r"/dev/zero is a device"):
        READERS[reader](Path("/dev/zero"))


def test_a_folder_that_is_a_link_is_not_listed(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "t0").symlink_to(tmp_path / "outside")
    for listing in (files.list_folders, in_subfolders):
        with pytest.raises(CorruptFileError, match=r"t0 is a symbolic link"):
            listing(tmp_path / "inside")
    assert files.list_studies(tmp_path / "inside") == [tmp_path / "inside" / "t0"]


def test_a_file_in_place_of_a_folder_is_named(tmp_path):
    (tmp_path / "asks").touch()
    for listing in (files.list_folders, directly):
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
    assert [file.path for file in files.stored_files(tmp_path)] == ["a/x"]


def test_what_a_link_leads_to_is_neither_written_nor_deleted(tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes(b"precious")
    for name in ("written", "deleted"):
        (tmp_path / name).symlink_to(outside)
    files.put(tmp_path / "written", b"report")
    files.remove(tmp_path / "deleted")
    assert outside.read_bytes() == b"precious"
    assert not (tmp_path / "written").is_symlink()
