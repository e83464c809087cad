import numpy as np
import pytest

from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.feature_cache import cached_features

VALUES = np.random.default_rng(0).standard_normal((70, 3)).astype(np.float32)


def in_pieces(write):
    for first in range(0, 70, 32):
        write(VALUES[first : first + 32])


def never(write):
    raise AssertionError("it is in the file already")


def cached(path, fill=in_pieces, num_images=70):
    return cached_features(path, num_images, fill, what="embedding 70 images")


def test_vectors_are_computed_once_and_then_read_from_the_file(tmp_path):
    path = tmp_path / "below" / "a.npy"
    first, second = cached(path), cached(path, never)
    for found in (first, second):
        assert isinstance(found.values_NF, np.memmap)
        np.testing.assert_array_equal(found.values_NF, VALUES)
        assert not found.values_NF.flags.writeable
    np.testing.assert_array_equal(np.load(path), VALUES)


def test_a_file_of_another_length_is_made_again(tmp_path, capfd):
    path = tmp_path / "a.npy"
    cached(path)
    np.save(path, VALUES[:69])
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
