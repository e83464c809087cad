"""The cache of resized images: its pixels, and what others may do to it meanwhile."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from torchvision.transforms import InterpolationMode, Resize

from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches import image_files
from podium.trainables.file_caches.image_files import ImageFiles
from podium.trainables.file_caches.resized_images import resized

GENERATOR = np.random.default_rng(0)

# Builds with one thread and prints the inode of the file.
BUILD = """
import resource, sys
from pathlib import Path
from podium.trainables.file_caches.resized_images import resized
from podium.trainables.file_caches.image_files import ImageFiles
from podium.trainables.errors import TrialInputError
root, cache, limit = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
files = ImageFiles(sorted(root.iterdir()), cache)
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    print(resized(files, 24, cache, num_threads=1).path.stat().st_ino)
except TrialInputError as error:
    sys.exit(str(error))
"""


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def noise(height, width):
    return GENERATOR.integers(0, 256, (height, width, 3), dtype=np.uint8)


def write_few(root):
    for number, shape in enumerate([(40, 60), (60, 40), (30, 30)]):
        Image.fromarray(noise(*shape)).save(root / f"{number}.jpg")
    return root


def files_in(root, cache):
    return ImageFiles(sorted(root.iterdir()), cache)


def resized_in(root, cache, side=24):
    return resized(files_in(root, cache), side, cache)


def stored(cache):
    return sorted(file.suffix for file in (cache / "resized").iterdir())


def start(root, cache, limit=0):
    command = [sys.executable, "-c", BUILD, str(root), str(cache), str(limit)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process):
    out, err = process.communicate(timeout=60)
    return process.returncode, out.strip(), err


@pytest.mark.parametrize("side", [1, 23, 24, 224])
def test_pixels_are_those_of_torchvision(root, cache, side):
    shapes = [(375, 500), (500, 375), (24, 24), (24, 91), (23, 7), (1, 3), (101, 100)]
    for number, shape in enumerate(shapes):
        Image.fromarray(noise(*shape)).save(root / f"{number}.jpg")
    Image.fromarray(noise(33, 55)[..., 0]).save(root / "7.jpg")
    Image.fromarray(noise(33, 55)).convert("CMYK").save(root / "8.jpg")
    Image.fromarray(noise(33, 55)).convert("RGBA").save(root / "9.png")
    found = resized_in(root, cache, side)
    transform = Resize(side, interpolation=InterpolationMode.BILINEAR, antialias=True)
    assert len(found) == 10
    for index, path in enumerate(sorted(root.iterdir())):
        expected = np.asarray(transform(Image.open(path).convert("RGB")))
        np.testing.assert_array_equal(found.image(index), expected)
        assert tuple(found.sizes_N2[index]) == expected.shape[:2]


def test_images_are_pages_of_the_file_and_cannot_be_written(root, cache):
    found = resized_in(write_few(root), cache)
    image = found.image(1)
    assert np.shares_memory(image, found.image(1))
    with pytest.raises(ValueError, match="read-only"):
        image[0] = 1


def test_it_goes_by_content_and_side_and_not_by_place(root, cache, tmp_path):
    first = resized_in(write_few(root), cache)
    moved = root.rename(tmp_path / "moved")
    assert resized_in(moved, cache).path == first.path
    assert resized_in(moved, cache, side=25).path != first.path
    Image.fromarray(noise(40, 60)).save(moved / "1.jpg")
    assert resized_in(moved, cache).path != first.path
    assert stored(cache) == [".lock"] * 3 + [".rgb"] * 3


def test_the_content_hash_follows_the_files_and_the_side(root, cache):
    files = files_in(write_few(root), cache)
    some, other = np.array([0, 2]), np.array([1, 2])
    hashes = [
        resized(files, 24, cache).content_hash(some),
        resized(files, 24, cache).content_hash(other),
        resized(files, 25, cache).content_hash(some),
    ]
    assert len(set(hashes)) == 3
    assert resized(files, 24, cache).content_hash(some) == hashes[0]


def test_all_broken_images_are_named_at_once_and_nothing_is_left(root, cache):
    write_few(root)
    broken = [root / f"b{number:02d}.jpg" for number in range(22)]
    for path in broken:
        path.write_bytes((root / "0.jpg").read_bytes()[:700])
    broken[0].write_text("no image at all")
    with pytest.raises(TrialInputError) as caught:
        resized_in(root, cache)
    lines = str(caught.value).splitlines()
    assert lines[0] == "22 of 25 images cannot be read:"
    assert lines[1] == f"  {broken[0]} cannot be decoded: its image format is unknown"
    assert all(str(path) in line for path, line in zip(broken[:20], lines[1:21], strict=True))
    assert lines[21:] == ["  and 2 more"]
    assert stored(cache) == [".lock"]


@pytest.mark.parametrize("kept", [0, 10, 56, -1, -60])
def test_a_file_that_was_cut_off_is_made_again(root, cache, kept, capsys):
    first = resized_in(write_few(root), cache)
    whole = first.path.read_bytes()
    first.path.unlink()
    first.path.write_bytes(whole[:kept])
    resized_in(root, cache)
    assert first.path.read_bytes() == whole
    assert "is damaged and is made again" in capsys.readouterr().err


def test_sizes_that_were_changed_are_noticed(root, cache):
    first = resized_in(write_few(root), cache)
    whole = first.path.read_bytes()
    content = bytearray(whole)
    place = whole.rindex(b"podium resized") - 24
    content[place : place + 8], content[place + 8 : place + 16] = (
        whole[place + 8 : place + 16],
        whole[place : place + 8],
    )
    first.path.unlink()
    first.path.write_bytes(content)
    resized_in(root, cache)
    assert first.path.read_bytes() == whole


def test_a_disk_that_fills_up_meanwhile_leaves_nothing(root, cache):
    for number in range(20):
        Image.fromarray(noise(40, 60)).save(root / f"{number}.jpg")
    code, _, err = ended(start(root, cache, limit=15_000))
    assert code == 1
    assert re.search(r"^the cache folder must be writable; .*\.rgb: File too large\.", err)
    assert stored(cache) == [".lock"]
    assert len(resized_in(root, cache)) == 20


def test_a_file_system_that_fails_is_no_fault_of_the_data_nor_of_the_cache(
    root, cache, monkeypatch
):
    """A later try may go well. The system refuses to read its own memory with that very error."""
    monkeypatch.setattr(image_files, "file_hashes", lambda *_: ("0" * 64,))
    failing = ImageFiles([Path("/proc/self/mem")], cache)
    with pytest.raises(OSError, match="Input/output error"):
        failing.image(0)
    with pytest.raises(OSError, match="Input/output error"):
        resized(failing, 24, cache)
    assert stored(cache) == [".lock"]


def test_a_side_below_one_pixel_is_refused(root, cache):
    with pytest.raises(TrialInputError, match="must be at least 1 pixel; got 0"):
        resized_in(write_few(root), cache, side=0)
