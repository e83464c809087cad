import re

import numpy as np
import pytest
from PIL import Image

from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.image_files import ImageFiles
from tests.trainables.damaged_files import cut_off, emptied, turned_into_text

GENERATOR = np.random.default_rng(0)
RGB = GENERATOR.integers(0, 256, (9, 14, 3), dtype=np.uint8)


def files_of(*paths, cache):
    return ImageFiles(paths, cache)


def decoded(path, tmp_path):
    return files_of(path, cache=tmp_path / "cache").image(0)


def saved(path, array, mode=None, **options):
    image = Image.fromarray(array)
    (image.convert(mode) if mode else image).save(path, **options)
    return path


def test_rgb_comes_as_it_is(tmp_path):
    np.testing.assert_array_equal(decoded(saved(tmp_path / "a.png", RGB), tmp_path), RGB)


def test_grey_becomes_three_equal_channels(tmp_path):
    path = saved(tmp_path / "a.png", RGB[..., 0])
    np.testing.assert_array_equal(decoded(path, tmp_path), np.dstack([RGB[..., 0]] * 3))


def test_transparency_is_dropped(tmp_path):
    alpha = GENERATOR.integers(0, 256, (9, 14, 1), dtype=np.uint8)
    path = saved(tmp_path / "a.png", np.dstack([RGB, alpha]))
    np.testing.assert_array_equal(decoded(path, tmp_path), RGB)


def test_a_palette_is_looked_up(tmp_path):
    indices = (np.arange(9 * 14) % 5).astype(np.uint8).reshape(9, 14)
    palette = GENERATOR.integers(0, 256, (5, 3), dtype=np.uint8)
    image = Image.frombytes("P", (14, 9), indices.tobytes())
    image.putpalette(palette.tobytes())
    for name, options in {
        "a.png": {},
        "b.png": {"transparency": bytes([0, 90, 255, 3, 4])},
    }.items():
        image.save(tmp_path / name, **options)
        np.testing.assert_array_equal(decoded(tmp_path / name, tmp_path), palette[indices])


def test_cmyk_is_turned_into_light(tmp_path):
    """Ink of the one kind takes away light of the other; without ink paper is white."""
    inks = np.zeros((16, 16, 4), dtype=np.uint8)
    inks[:, 8:, 0] = 255
    Image.frombytes("CMYK", (16, 16), inks.tobytes()).save(tmp_path / "a.jpg", quality=100)
    with Image.open(tmp_path / "a.jpg") as image:
        assert image.mode == "CMYK"
    pixels = decoded(tmp_path / "a.jpg", tmp_path).astype(int)
    assert np.abs(pixels[:, :8] - 255).max() <= 4
    assert np.abs(pixels[:, 8:] - [0, 255, 255]).max() <= 4


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.pgm"])
def test_the_upper_bits_of_16_are_kept(tmp_path, name):
    grey = np.array([[0, 255, 256, 32768], [511, 512, 65280, 65535]], dtype=np.uint16)
    path = saved(tmp_path / name, grey)
    expected = [[0, 0, 1, 128], [1, 2, 255, 255]]
    np.testing.assert_array_equal(decoded(path, tmp_path), np.dstack([expected] * 3))


def test_big_endian_bits_are_the_same(tmp_path):
    grey = np.array([[256, 65535]], dtype=">u2")
    Image.frombytes("I;16B", (2, 1), grey.tobytes()).save(tmp_path / "a.tif")
    assert decoded(tmp_path / "a.tif", tmp_path)[0, :, 0].tolist() == [1, 255]


def test_numbers_without_a_range_are_refused(tmp_path):
    floats = saved(tmp_path / "a.tif", np.float32([[0.5, 3]]))
    large = saved(tmp_path / "b.tif", np.int32([[0, 70000]]))
    with pytest.raises(TrialInputError, match=r"a\.tif cannot be decoded: .* floating-point"):
        decoded(floats, tmp_path)
    with pytest.raises(TrialInputError, match=r"b\.tif cannot be decoded: .* beyond 16 bits"):
        decoded(large, tmp_path)


def test_a_line_is_no_image(tmp_path):
    """Of 20,000 pixels it would become 4 GB once its shorter side has 256."""
    assert decoded(saved(tmp_path / "a.png", np.zeros((2, 2000), np.uint8)), tmp_path).size
    line = saved(tmp_path / "b.png", np.zeros((2001, 2), np.uint8))
    with pytest.raises(TrialInputError, match=r"b\.png .* 1000 times .* 2 x 2001 pixels"):
        decoded(line, tmp_path)


def test_how_the_camera_was_held_is_not_followed(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees to view
    path = saved(tmp_path / "a.jpg", RGB, exif=exif)
    assert decoded(path, tmp_path).shape == RGB.shape


@pytest.mark.parametrize("break_it", [cut_off, emptied, turned_into_text])
def test_a_broken_image_is_named_when_it_is_asked_for(tmp_path, break_it):
    path = saved(tmp_path / "a.jpg", GENERATOR.integers(0, 256, (64, 64, 3), dtype=np.uint8))
    break_it(path)
    with pytest.raises(TrialInputError, match=re.escape(f"{path} cannot be decoded: ")):
        decoded(path, tmp_path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    message = r"none\.jpg cannot be read: No such file"
    with pytest.raises(TrialInputError, match=message):
        files_of(tmp_path / "none.jpg", cache=tmp_path / "cache")
    path = saved(tmp_path / "none.jpg", RGB)
    files = files_of(path, cache=tmp_path / "cache")
    path.unlink()
    with pytest.raises(TrialInputError, match=message):
        files.image(0)


def test_an_image_that_was_replaced_meanwhile_is_named(tmp_path):
    """A trial that decodes files again each time would go on with others under the old hash."""
    path = saved(tmp_path / "a.png", RGB)
    files = files_of(path, cache=tmp_path / "cache")
    np.testing.assert_array_equal(files.image(0), RGB)
    saved(path, RGB[::-1])
    with pytest.raises(TrialInputError, match=r"^\S*a\.png has changed since it was hashed$"):
        files.image(0)


def test_the_content_hash_is_that_of_the_bytes_in_their_order(tmp_path):
    paths = [saved(tmp_path / f"{n}.png", RGB[: n + 1]) for n in range(3)]
    files = files_of(*paths, cache=tmp_path / "cache")
    (tmp_path / "moved").mkdir()
    moved = [path.rename(tmp_path / "moved" / f"other{path.name}") for path in paths]
    again = files_of(*moved, cache=tmp_path / "cache")
    some = np.array([2, 0])
    assert files.content_hash(some) == again.content_hash(some)
    assert files.content_hash(some) != files.content_hash(some[::-1])
    saved(moved[2], RGB[:5])
    changed = files_of(*moved, cache=tmp_path / "cache")
    assert files.content_hash(some) != changed.content_hash(some)
    assert files.content_hash(some[1:]) == changed.content_hash(some[1:])
