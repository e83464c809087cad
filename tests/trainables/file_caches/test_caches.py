import os
import subprocess
import sys

import numpy as np
import pytest

from podium.errors import LockHeldError
from trainables.file_caches.array_cache import cached_array
from trainables.file_caches.caches import CACHES, cache_use, empty_cache


def _fill(folder):
    for kind in ("resized", "features", "glyphs", "file_hashes"):
        (folder / kind).mkdir()
        (folder / kind / "a.npy").write_bytes(b"12345")
        (folder / kind / "a.lock").touch()
    (folder / "seconds-per-image.csv").write_bytes(b"12345")


def test_each_kind_is_counted_without_locks_and_half_written_files(tmp_path):
    _fill(tmp_path)
    (tmp_path / "glyphs" / ".b.npy.01234567.partial").write_bytes(b"half")
    for kind in CACHES:
        use = cache_use(kind, tmp_path)
        assert (use.num_files, use.num_bytes) == (1, 5)
        assert use.used_at.timestamp() == pytest.approx(use.place.stat().st_mtime, abs=60)


def test_a_cache_that_is_not_there_is_empty(tmp_path):
    for kind in CACHES:
        use = cache_use(kind, tmp_path)
        assert (use.num_files, use.num_bytes, use.used_at) == (0, 0, None)
        empty_cache(kind, tmp_path)


def test_one_kind_is_emptied_and_others_and_locks_stay(tmp_path):
    _fill(tmp_path)
    empty_cache("resized", tmp_path)
    empty_cache("costs", tmp_path)
    found = {kind: cache_use(kind, tmp_path).num_files for kind in CACHES}
    assert found == {"resized": 0, "features": 1, "glyphs": 1, "file_hashes": 1, "costs": 0}
    assert (tmp_path / "resized" / "a.lock").exists()


def test_half_written_files_go_once_they_are_old(tmp_path):
    _fill(tmp_path)
    fresh, old = (tmp_path / "features" / f".{name}.npy.0.partial" for name in ("b", "c"))
    fresh.touch()
    old.touch()
    os.utime(old, (0, 0))
    empty_cache("features", tmp_path)
    assert fresh.exists()
    assert not old.exists()


def test_a_cache_to_which_a_process_is_adding_is_refused_and_stays(tmp_path):
    _fill(tmp_path)
    lock = tmp_path / "resized" / "a.lock"
    holding = (
        "import sys\n"
        "from pathlib import Path\n"
        "from trainables.file_caches.file_locks import file_lock\n"
        "with file_lock(Path(sys.argv[1]), doing='resizing'):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", holding, str(lock)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(LockHeldError, match=rf"process {process.pid} .*is making a"):
            empty_cache("resized", tmp_path)
        assert cache_use("resized", tmp_path).num_files == 1
        process.communicate()
    empty_cache("resized", tmp_path)
    assert cache_use("resized", tmp_path).num_files == 0


def test_who_has_a_file_open_keeps_it_and_the_next_one_makes_it_again(tmp_path):
    path = tmp_path / "glyphs" / "a.npy"
    array = cached_array(path, lambda: np.arange(9, dtype=np.uint8))
    empty_cache("glyphs", tmp_path)
    assert array.sum() == 36
    assert not path.exists()
    assert cached_array(path, lambda: np.ones(2, dtype=np.uint8)).sum() == 2


def test_links_are_neither_followed_nor_counted(tmp_path):
    _fill(tmp_path)
    outside = tmp_path / "outside"
    outside.write_bytes(b"precious")
    (tmp_path / "features" / "link").symlink_to(outside)
    empty_cache("features", tmp_path)
    assert outside.read_bytes() == b"precious"
