import os
import stat
import time

import pytest

from podium.trainables.file_caches.atomic_file import remove_leftovers, whole_file


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "file"
    with whole_file(path) as file:
        file.write(b"all of it")
        assert not path.exists()
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [
        ("file", b"all of it")
    ]


def test_an_error_leaves_what_was_there(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"before")
    with pytest.raises(TypeError), whole_file(path) as file:
        file.writelines([b"half", "no bytes"])
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("file", b"before")]


def test_several_writers_do_not_meet_and_the_last_one_stays(tmp_path):
    path = tmp_path / "file"
    with whole_file(path) as first:
        with whole_file(path) as second:
            first.write(b"first")
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"


def test_others_may_read_it(tmp_path):
    with whole_file(tmp_path / "file") as file:
        file.write(b"x")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("is_locked", [True, False])
def test_leftovers_go_when_no_process_can_be_writing_them(tmp_path, is_locked):
    names = [".file.1.partial", ".file.old.partial", ".other.1.partial", ".other.old.partial"]
    for name in [*names, "file", ".file.lock"]:
        (tmp_path / name).write_bytes(b"")
        if "old" in name:
            os.utime(tmp_path / name, (time.time() - 3700,) * 2)
    remove_leftovers(tmp_path / "file", is_locked=is_locked)
    left = {file.name for file in tmp_path.iterdir()} - {"file", ".file.lock"}
    assert left == {".other.1.partial"} | (set() if is_locked else {".file.1.partial"})
