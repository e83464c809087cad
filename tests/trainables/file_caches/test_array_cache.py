import pwd

import numpy as np
import pytest

from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.array_cache import cache_folder_at, cached_array

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


@pytest.mark.parametrize("size", [0, 10, -1])
def test_a_truncated_file_is_made_again(tmp_path, size, capsys):
    path = tmp_path / "array.npy"
    cached_array(path, lambda: ARRAY)
    path.write_bytes(path.read_bytes()[:size])
    np.testing.assert_array_equal(cached_array(path, lambda: ARRAY), ARRAY)
    assert f"{path} is damaged and is made again" in capsys.readouterr().err


def test_a_user_without_a_home_is_told_what_to_set(tmp_path, monkeypatch):
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    def nobody(number):
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    with pytest.raises(TrialInputError, match="this user has no home; set XDG_CACHE_HOME"):
        cache_folder_at(None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder_at(None) == tmp_path / "podium"
