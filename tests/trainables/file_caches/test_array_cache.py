import multiprocessing
import time

import numpy as np
import pytest

from trainables.errors import TrialInputError
from trainables.file_caches.array_cache import cached_array

ARRAY = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)


def never():
    raise AssertionError("made although the file was there")


def test_an_array_is_made_once_and_mapped_read_only(tmp_path):
    path = tmp_path / "new" / "folder" / "array.npy"
    first = cached_array(path, lambda: ARRAY)
    again = cached_array(path, never)
    assert isinstance(again, np.memmap)
    np.testing.assert_array_equal(first, ARRAY)
    np.testing.assert_array_equal(again, ARRAY)
    with pytest.raises(ValueError, match="read-only"):
        again[0] = 1


def test_a_failure_while_making_is_passed_on_and_leaves_nothing_behind(tmp_path):
    def fail():
        raise TrialInputError("no fonts")

    with pytest.raises(TrialInputError, match=r"^no fonts$"):
        cached_array(tmp_path / "array.npy", fail)
    assert [file.name for file in tmp_path.iterdir()] == ["array.lock"]


@pytest.mark.parametrize("size", [0, 10, -1])
def test_a_truncated_file_is_made_again(tmp_path, size, capsys):
    path = tmp_path / "array.npy"
    cached_array(path, lambda: ARRAY)
    path.write_bytes(path.read_bytes()[:size])
    np.testing.assert_array_equal(cached_array(path, lambda: ARRAY), ARRAY)
    assert f"{path} is damaged and is made again" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(TrialInputError, match=r"must be writable; .*array\.npy: File exists"):
        cached_array(tmp_path / "file" / "array.npy", lambda: ARRAY)


def _make_slowly():
    time.sleep(0.2)
    return ARRAY


def _sum(path):
    return int(cached_array(path, _make_slowly).sum())


def test_processes_that_make_it_at_once_all_read_a_whole_array(tmp_path):
    context = multiprocessing.get_context("spawn")
    with context.Pool(3) as pool:
        sums = pool.map(_sum, [tmp_path / "array.npy"] * 3, chunksize=1)
    assert sums == [int(ARRAY.sum())] * 3
    assert {file.name for file in tmp_path.iterdir()} == {"array.npy", "array.lock"}
