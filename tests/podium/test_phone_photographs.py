"""A folder of photographs as they come from telephones, from ``podium init`` to a report."""

import sys

import numpy as np
import pytest
import torch
from PIL import Image

import podium
from podium.image_folder_study import folder_study_texts
from podium.trainables.datasets.folder import Folder
from podium.trainables.network import initial_weights
from tests.podium.calling import call
from tests.trainables.small_photographs import photograph

ORIENTATION = 0x0112
TURNED = {6: 3, 8: 1, 3: 2}  # by EXIF -> quarter turns to the left that put it upright
LOSSES = "losses=[contrastive,proxy_anchor]"
QUICK = ("search.trials=1", "final.seeds=1", "training.epochs=1", LOSSES)


def save(array, path, orientation=1, kind=None):
    image = Image.fromarray(array)
    exif = image.getexif()
    exif[ORIENTATION] = orientation
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, kind, exif=exif.tobytes())


@pytest.fixture
def album(tmp_path):
    """Eight classes, each of photographs of several kinds, sizes and ways to hold a telephone."""
    heif = pytest.importorskip("pillow_heif")
    heif.register_heif_opener()
    root = tmp_path / "my photos"
    for label in range(8):
        folder = root / f"Thing {label}"
        save(photograph(60, 80, label), folder / "IMG_0001.HEIC", 6)
        save(photograph(120, 90, label), folder / "IMG 0002.JPG", 8)
        save(photograph(48, 64, label), folder / "20260101_120000.jpeg", 3)
        save(photograph(70, 70, label), folder / "Screenshot.jpg", kind="PNG")
        save(photograph(64, 96, label), folder / "from the web.jfif", kind="JPEG")
        (folder / "IMG_0001.MOV").write_bytes(b"\0\0\0\x14ftypqt  ")
        (folder / ".DS_Store").touch()
    return root


def test_from_a_folder_to_a_report(album, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(initial_weights, "find_spec", lambda name: None)  # a small network
    assert call(capsys, "init", "mine.yaml", "--data", album).code == 0
    text = (tmp_path / "mine.yaml").read_text()
    assert "# 20 images of 4 classes to train and validate on, 20 of" in text
    assert "# 16 images were not held upright, and turned by EXIF." in text
    assert "# Left out: 8 files that end in .mov." in text
    assert "upright: true}]" in text
    results = podium.load("mine.yaml", overrides=QUICK).run(local=True)
    page = results.report().read_text()
    assert "Thing 7" in page
    assert "conv_small: random weights." in page


@pytest.mark.parametrize("orientation", TURNED)
@pytest.mark.parametrize("suffix", ["heic", "png", "tiff"])
def test_a_photograph_is_seen_as_it_was_held(tmp_path, suffix, orientation):
    pytest.importorskip("pillow_heif").register_heif_opener()
    for name in "abcd":
        save(photograph(40, 60, 0), tmp_path / "root" / name / f"0.{suffix}", orientation)
    upright, stored = (
        Folder.load({"root": str(tmp_path / "root"), **more}, tmp_path / "cache")
        for more in ({"upright": True}, {})
    )
    found = upright.pixels.image(0).astype(int)
    expected = np.rot90(photograph(40, 60, 0), TURNED[orientation]).astype(int)
    assert found.shape == expected.shape
    assert np.abs(found - expected).mean() < 12  # HEIC is lossy
    is_the_same = np.array_equal(stored.pixels.image(0), found)
    assert is_the_same == (suffix != "png"), "published loaders do not turn"
    assert upright.fingerprint != stored.fingerprint


def test_without_the_library_for_it_heic_is_refused_with_what_to_install(album, monkeypatch):
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    monkeypatch.setattr(Image, "ID", [name for name in Image.ID if name != "HEIF"])
    message = r"8 of 40 .* such as .*IMG_0001\.HEIC \(a HEIC .* pip install 'podium\[heic\]'\)"
    with pytest.raises(podium.PodiumError, match=message):
        next(folder_study_texts(album, "s", "conv_small"))
