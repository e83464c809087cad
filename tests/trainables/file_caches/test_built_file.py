"""A file is built once, whole, whatever happens to the processes that build it."""

import os
import subprocess
import sys
import time

import pytest

from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.built_file import built_once
from tests.trainables.damaged_files import emptied

CONTENT = b"".join(bytes([number]) * 1000 for number in range(8))

# Each process notes that it builds, takes its time, and prints how many bytes it then reads.
WORKER = """
import sys, time
from pathlib import Path
from tests.trainables.file_caches.test_built_file import CONTENT, whole
from podium.trainables.file_caches.built_file import built_once

def build(write):
    with open(sys.argv[2], "a") as notes:
        notes.write("x")
    for first in range(0, len(CONTENT), 1000):
        time.sleep(float(sys.argv[3]))
        write(CONTENT[first : first + 1000])

print(len(built_once(Path(sys.argv[1]), whole, build, doing="building it")))
"""


def whole(path):
    content = path.read_bytes()
    return content if content == CONTENT else None


def build(write):
    for first in range(0, len(CONTENT), 3000):
        write(CONTENT[first : first + 3000])


def never(write):
    raise AssertionError("it is there already")


def start(path, notes, pause):
    arguments = [sys.executable, "-c", WORKER, str(path), str(notes), str(pause)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def killed_while_it_writes(path, notes):
    process = start(path, notes, 0.5)
    deadline = time.monotonic() + 60
    while not list(path.parent.glob(f".{path.name}.*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.communicate(timeout=60)
    (left,) = path.parent.glob(f".{path.name}.*")
    return left


def test_it_is_built_once_and_then_read(tmp_path):
    path = tmp_path / "below" / "file.bin"
    assert built_once(path, whole, build, doing="building") == CONTENT
    path.with_suffix(".lock").unlink()
    path.with_suffix(".lock").mkdir()  # nobody can make a lock here any more
    assert built_once(path, whole, never, doing="building") == CONTENT
    assert path.read_bytes() == CONTENT


def test_of_processes_that_ask_at_once_one_builds_and_the_others_wait(tmp_path):
    path, notes = tmp_path / "file.bin", tmp_path / "notes"
    workers = [start(path, notes, 0.05) for _ in range(3)]
    told = [worker.communicate(timeout=60) for worker in workers]
    assert [out.strip() for out, _ in told] == [str(len(CONTENT))] * 3
    assert notes.read_text() == "x"
    assert sum(" is building it; waiting for it" in err for _, err in told) <= 2
    assert {file.name for file in tmp_path.iterdir()} == {"file.bin", "file.lock", "notes"}


def test_when_the_builder_is_killed_the_next_one_builds_anew_and_leaves_nothing_else(tmp_path):
    path, notes = tmp_path / "file.bin", tmp_path / "notes"
    killed_while_it_writes(path, notes)
    assert not path.exists()
    assert built_once(path, whole, build, doing="building") == CONTENT
    assert {file.name for file in tmp_path.iterdir()} == {"file.bin", "file.lock", "notes"}


def test_what_a_killed_builder_of_another_file_left_goes_once_it_is_old(tmp_path):
    left = killed_while_it_writes(tmp_path / "other.bin", tmp_path / "notes")
    built_once(tmp_path / "a.bin", whole, build, doing="building")
    assert left.exists(), "its writer may be alive"
    os.utime(left, (time.time() - 7200,) * 2)
    built_once(tmp_path / "b.bin", whole, build, doing="building")
    assert not left.exists()


def cut(path):
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("damage", [cut, emptied])
def test_a_damaged_file_is_reported_and_made_again(tmp_path, capsys, damage):
    path = tmp_path / "file.bin"
    built_once(path, whole, build, doing="building")
    damage(path)
    assert built_once(path, whole, build, doing="building") == CONTENT
    assert f"{path} is damaged and is made again" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error", [TrialInputError("no fonts"), OSError(5, "Input/output error", "/data/a.jpg")]
)
def test_an_error_of_the_building_is_passed_on_as_it_is_and_leaves_nothing(tmp_path, error):
    def failing(write):
        write(b"half")
        raise error

    with pytest.raises(type(error)) as caught:
        built_once(tmp_path / "file.bin", whole, failing, doing="building")
    assert caught.value is error
    assert {file.name for file in tmp_path.iterdir()} == {"file.lock"}


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TrialInputError, match=r"cache folder must be writable; .*file/a\.bin"):
        built_once(tmp_path / "file" / "a.bin", whole, build, doing="building")
