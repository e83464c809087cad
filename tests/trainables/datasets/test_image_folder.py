"""The published data sets, and folders of one's own, as data sets of a study."""

import re
import shutil

import numpy as np
import pytest
from PIL import Image

from podium.trainables.dataset_interface.load_dataset import dataset_facts, load_dataset
from podium.trainables.datasets.folder import Folder
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import DatasetSettings
from tests.trainables.dataset_readers.miniatures import KINDS, make_tree
from tests.trainables.dataset_readers.trees import write_jpeg

PUBLISHED = {
    "cub200": (100, 100, 5864 + 5924, 5864),
    "cars196": (98, 98, 8054 + 8131, 8054),
    "sop": (11_318, 11_316, 59_551 + 60_502, 59_551),
    "in_shop": (3997, 3985, 25_882 + 14_218 + 12_612, 25_882),
}
every_published = pytest.mark.parametrize("name", PUBLISHED)
every_kind = pytest.mark.parametrize("kind", KINDS)


def settings_of(kind, **options):
    return DatasetSettings(name=kind.removesuffix("_devkit"), options=options)


def counts(facts):
    return (
        facts.num_train_classes,
        facts.num_test_classes,
        facts.num_images,
        facts.num_train_images,
    )


@pytest.fixture
def load(tmp_path):
    def load(kind, root, **options):
        settings = settings_of(kind, root=str(root), **{"allow_partial": True, **options})
        return load_dataset(settings, str(tmp_path / "cache"))

    return load


@pytest.fixture
def load_again(tmp_path):
    """Loads as a process that has not seen the data set: nothing is kept of earlier calls."""
    folders = iter(range(100))

    def load(kind, root):
        settings = settings_of(kind, root=str(root), allow_partial=True)
        return load_dataset(settings, str(tmp_path / f"cache{next(folders)}"))

    return load


@every_published
def test_a_study_is_planned_where_the_data_are_not(name, tmp_path):
    for options in ({}, {"root": str(tmp_path / "not here")}):
        facts = dataset_facts(settings_of(name, **options))
        assert counts(facts) == PUBLISHED[name]
        assert facts.description.endswith("as published")


@every_published
def test_without_the_data_the_expected_tree_is_reported_when_they_are_loaded(name, tmp_path):
    missing = settings_of(name, root=str(tmp_path / "not here"))
    with pytest.raises(TrialInputError, match=f"{name}: there is no folder .*not here\nExpected:"):
        load_dataset(missing, str(tmp_path))
    with pytest.raises(TrialInputError, match=f"{name}: root must be given, .*\nExpected:"):
        load_dataset(settings_of(name), str(tmp_path))


@every_kind
def test_a_part_is_read_for_its_facts(kind, tmp_path, load):
    root = make_tree(kind, tmp_path / "data", classes=3, images_per_class=4)
    facts = dataset_facts(settings_of(kind, root=str(root), allow_partial=True))
    assert counts(facts) == (3, 3, 24, 12)
    dataset = load(kind, root)
    assert (len(dataset.train_classes), len(dataset.test_classes)) == (3, 3)
    assert len(dataset.pixels) == 24


@every_kind
def test_images_have_the_class_and_the_half_that_their_file_says(kind, tmp_path, load):
    """The stripes of two classes differ more than those of one: a look at the mean colour."""
    root = make_tree(kind, tmp_path / "data", classes=2, images_per_class=4)
    dataset = load(kind, root)
    coloured = [i for i in range(16) if np.ptp(dataset.pixels.image(i).mean((0, 1))) > 4]
    means = np.array([dataset.pixels.image(i).mean((0, 1)) for i in coloured])
    labels = dataset.labels[coloured]
    gaps = np.linalg.norm(means[:, None] - means, axis=2) + np.diag([np.inf] * len(means))
    assert (labels[gaps.argmin(1)] == labels).mean() > 0.9
    assert np.bincount(dataset.labels).tolist() == [4] * 4


@every_kind
def test_the_fingerprint_follows_the_content_and_not_the_place(kind, tmp_path, load_again):
    root = make_tree(kind, tmp_path / "data", classes=2, images_per_class=2)
    first = load_again(kind, root)
    moved = load_again(kind, root.rename(tmp_path / "moved"))
    assert (moved.fingerprint, moved.test_hash) == (first.fingerprint, first.test_hash)
    place = int(np.flatnonzero(first.labels == first.test_classes[0])[0])
    path = moved.pixels.paths[place]
    path.write_bytes(path.read_bytes() + b"\0")
    other = load_again(kind, tmp_path / "moved")
    assert other.fingerprint != first.fingerprint
    assert other.test_hash != first.test_hash


def test_queries_ask_and_the_gallery_is_searched(tmp_path, load):
    root = make_tree("in_shop", tmp_path / "data", classes=2, images_per_class=4)
    dataset = load("in_shop", root)
    tested = np.isin(dataset.labels, dataset.test_classes)
    assert dataset.gallery_N.tolist() == [False] * 8 + [False, False, True, True] * 2
    assert tested.tolist() == [False] * 8 + [True] * 8
    assert load("sop", make_tree("sop", tmp_path / "sop")).gallery_N is None


def test_what_asks_and_what_is_searched_is_part_of_the_fingerprint(tmp_path, load_again):
    root = make_tree("in_shop", tmp_path / "data", classes=2, images_per_class=4)
    first = load_again("in_shop", root)
    (file,) = root.glob("*/Eval/*.txt")
    text = file.read_text()
    file.write_text(re.sub("(00000003/01.* )query", r"\1gallery", text))
    other = load_again("in_shop", root)
    assert int(other.gallery_N.sum()) == int(first.gallery_N.sum()) + 1
    assert other.fingerprint != first.fingerprint
    assert other.test_hash != first.test_hash


def test_chosen_classes_stay_on_the_side_that_they_have_among_all(tmp_path, load):
    for shade, name in enumerate(["a.food", "b.food", "c.tool", "d.food", "e.food", "f.food"]):
        for number in range(2):
            write_jpeg(tmp_path / "data" / name / f"{number}.jpg", shade=20 * shade + number)
    dataset = load("folder", tmp_path / "data", classes="*.food")
    assert dataset.class_names == ("a.food", "b.food", "d.food", "e.food", "f.food")
    assert (dataset.train_classes, dataset.test_classes) == ((0, 1), (2, 3, 4))
    assert [path.parent.name for path in dataset.pixels.paths[:3]] == ["a.food"] * 2 + ["b.food"]
    options = {"root": str(tmp_path / "data"), "classes": "*.food"}
    assert counts(dataset_facts(settings_of("folder", **options))) == (2, 3, 10, 4)
    everything = load("folder", tmp_path / "data")
    assert load("folder", tmp_path / "data", classes="*").fingerprint == everything.fingerprint
    for none in ("*.animals", "*.tool"):
        with pytest.raises(TrialInputError, match="must match some of each of test, train; got"):
            load("folder", tmp_path / "data", classes=none)


def test_a_folder_may_say_its_sides_and_queries_itself(tmp_path, load):
    sides = ["train/a", "train/b", "query/c", "gallery/c", "gallery/distraction"]
    for shade, side in enumerate(sides):
        write_jpeg(tmp_path / "data" / side / "0.jpg", shade=40 * shade)
    dataset = load("folder", tmp_path / "data", allow_partial=False)
    assert dataset.class_names == ("a", "b", "c", "distraction")
    assert (dataset.train_classes, dataset.test_classes) == ((0, 1), (2, 3))
    assert dataset.gallery_N.tolist() == [False, False, False, True, True]
    facts = dataset_facts(settings_of("folder", root=str(tmp_path / "data")))
    assert counts(facts) == (2, 2, 5, 2)
    assert facts.description == (
        f"2 train, 1 query, 2 gallery images, found in {tmp_path / 'data'}"
    )


def test_a_folder_of_one_s_own_must_be_there_to_be_planned_with(tmp_path):
    with pytest.raises(TrialInputError, match=r"folder: root must be given.*\nExpected:"):
        dataset_facts(settings_of("folder"))
    with pytest.raises(TrialInputError, match=r"folder: there is no folder .*\nExpected:"):
        dataset_facts(settings_of("folder", root=str(tmp_path / "not here")))


@pytest.mark.parametrize("kind", ["cub200", "folder"])
def test_without_images_to_test_on_it_is_no_data_set(kind, tmp_path, load):
    root = make_tree(kind, tmp_path / "data", classes=2)
    if kind == "folder":
        for name in ("train", "test"):
            (root / name).mkdir()
        for folder in sorted(root.glob("stripes*")):
            folder.rename(root / "train" / folder.name)
    else:
        for folder in root.glob("CUB_200_2011/images/10*"):
            shutil.rmtree(folder)
    with pytest.raises(TrialInputError, match=r"of the roles train and test, or .*; got train"):
        load(kind, root)


def test_no_image_is_decoded_before_it_is_asked_for(tmp_path, load):
    root = make_tree("sop", tmp_path / "data", classes=2)
    paths = sorted(root.rglob("*.JPG"))
    paths[0].write_text("no image")
    dataset = load("sop", root)
    index = dataset.pixels.paths.index(paths[0])
    with pytest.raises(TrialInputError, match=re.escape(str(paths[0]))):
        dataset.pixels.image(index)
    with Image.open(dataset.pixels.paths[index + 1]) as image:
        expected = np.asarray(image.convert("RGB"))
    np.testing.assert_array_equal(dataset.pixels.image(index + 1), expected)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"rot": "x"}, "unknown option 'rot' (did you mean 'root'?); known: root, allow_partial"),
        ({"root": ""}, "root must be the path of a folder; got ''"),
        ({"root": 3}, "root must be the path of a folder; got 3"),
        ({"allow_partial": "yes"}, "allow_partial must be true or false; got 'yes'"),
        ({"allow_partial": 1}, "allow_partial must be true or false; got 1"),
    ],
)
def test_options_are_checked(options, problem, tmp_path):
    settings = settings_of("cub200", **options)
    for function in (dataset_facts, lambda settings: load_dataset(settings, str(tmp_path))):
        with pytest.raises(TrialInputError, match=re.escape(f"data set cub200: {problem}")):
            function(settings)


@pytest.mark.parametrize(("seen", "colour"), [("drop", 9), ("white", 172), ("black", 3)])
def test_behind_transparent_pixels_is_what_the_study_says_and_the_id_tells(tmp_path, seen, colour):
    """A third opaque: (9 + 2 x 255) / 3 on white."""
    for name in "abcd":
        (tmp_path / "root" / name).mkdir(parents=True)
        image = Image.new("RGBA", (40, 40), (9, 9, 9, 85))
        image.save(tmp_path / "root" / name / "0.png")
    options = {
        "root": str(tmp_path / "root"),
        **({} if seen == "drop" else {"transparency": seen}),
    }
    dataset = Folder.load(options, tmp_path / "cache")
    assert abs(int(dataset.pixels.image(0)[0, 0, 0]) - colour) <= 1
    dropped = Folder.load(
        {"root": str(tmp_path / "root"), "transparency": "drop"}, tmp_path / "cache"
    )
    assert (dataset.fingerprint == dropped.fingerprint) == (seen == "drop")
    assert (dataset.test_hash == dropped.test_hash) == (seen == "drop")
