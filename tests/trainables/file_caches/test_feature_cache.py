import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.trainables.damaged_files import emptied
from trainables.errors import TrialInputError
from trainables.file_caches import built_file
from trainables.file_caches.feature_cache import cached_features

VALUES = np.random.default_rng(0).standard_normal((70, 3)).astype(np.float32)

# Each process notes that it computes, takes its time, and prints the sum of what it then reads.
WORKER = """
import sys, time
from pathlib import Path
import numpy as np
from trainables.file_caches.feature_cache import cached_features

def fill(write):
    with open(sys.argv[2], "a") as notes:
        notes.write("x")
    for first in range(0, 70, 10):
        time.sleep(float(sys.argv[3]))
        write(np.arange(first, first + 10, dtype=np.float32)[:, None].repeat(3, 1))

found = cached_features(Path(sys.argv[1]), 70, fill, what="embedding")
print(int(found.values_NF.sum()))
"""


def in_pieces(write):
    for first in range(0, 70, 32):
        write(VALUES[first : first + 32])


def never(write):
    raise AssertionError("it is in the file already")


def cached(path, fill=in_pieces, num_images=70):
    return cached_features(path, num_images, fill, what="embedding 70 images")


def start(path, notes, pause):
    arguments = [sys.executable, "-c", WORKER, str(path), str(notes), str(pause)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_vectors_are_computed_once_and_then_read_from_the_file(tmp_path):
    path = tmp_path / "below" / "a.npy"
    first, second = cached(path), cached(path, never)
    for found in (first, second):
        assert isinstance(found.values_NF, np.memmap)
        np.testing.assert_array_equal(found.values_NF, VALUES)
        assert not found.values_NF.flags.writeable
    np.testing.assert_array_equal(np.load(path), VALUES)


def test_processes_that_ask_at_once_compute_once(tmp_path):
    path, notes = tmp_path / "a.npy", tmp_path / "notes"
    workers = [start(path, notes, 0.05) for _ in range(3)]
    told = [worker.communicate(timeout=60) for worker in workers]
    assert [out.strip() for out, _ in told] == [str(3 * sum(range(70)))] * 3
    assert notes.read_text() == "x"
    waited = [err for _, err in told if " is embedding; waiting for it" in err]
    assert len(waited) <= 2


def test_after_a_kill_the_next_one_computes_anew_and_leaves_nothing_else(tmp_path):
    path, notes = tmp_path / "a.npy", tmp_path / "notes"
    killed = start(path, notes, 0.5)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".a.npy.*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate(timeout=60)
    assert not path.exists()
    assert list(tmp_path.glob(".a.npy.*"))
    np.testing.assert_array_equal(cached(path).values_NF, VALUES)
    assert {file.name for file in tmp_path.iterdir()} == {"a.npy", "a.lock", "notes"}


def cut(path):
    path.write_bytes(path.read_bytes()[:-1])


def of_another_length(path):
    np.save(path, VALUES[:69])


@pytest.mark.parametrize("damage", [cut, emptied, of_another_length])
def test_a_damaged_file_is_reported_and_made_again(tmp_path, capfd, damage):
    path = tmp_path / "a.npy"
    cached(path)
    damage(path)
    np.testing.assert_array_equal(cached(path).values_NF, VALUES)
    assert f"{path} is damaged and is made again" in capfd.readouterr().err


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_features_that_are_not_finite_are_refused_and_not_kept(tmp_path, value):
    def bad(write):
        write(VALUES[:32])
        broken = VALUES[32:].copy()
        broken[[3, 3, 5], [0, 1, 2]] = value
        write(broken)

    with pytest.raises(TrialInputError, match="infinity for 2 of images 33 to 70"):
        cached(tmp_path / "a.npy", bad)
    assert {file.name for file in tmp_path.iterdir()} == {"a.lock"}
    np.testing.assert_array_equal(cached(tmp_path / "a.npy").values_NF, VALUES)


def test_an_error_of_the_backbone_is_passed_on_as_it_is(tmp_path):
    def failing(write):
        write(VALUES[:32])
        raise TrialInputError("the images are too small")

    with pytest.raises(TrialInputError, match=r"^the images are too small$"):
        cached(tmp_path / "a.npy", failing)
    assert not (tmp_path / "a.npy").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TrialInputError, match=r"the cache folder must be writable; .*file/a\.npy"):
        cached(tmp_path / "file" / "a.npy")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_reported(tmp_path, monkeypatch):
    full = Path("/dev/full")
    monkeypatch.setattr(built_file, "whole_file", lambda path: full.open("wb"))
    with pytest.raises(TrialInputError, match=r"a\.npy: No space left on device"):
        cached(tmp_path / "a.npy", lambda write: write(np.ones((70, 10_000), np.float32)))


def test_an_os_error_of_the_images_is_not_blamed_on_the_cache(tmp_path):
    def failing(write):
        write(VALUES[:32])
        raise OSError(5, "Input/output error", str(Path("/data/a.jpg")))

    with pytest.raises(OSError, match=r"/data/a\.jpg"):
        cached(tmp_path / "a.npy", failing)
