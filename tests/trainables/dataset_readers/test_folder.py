import os

import pytest
from PIL import Image

from podium.trainables.dataset_readers.folder import read
from podium.trainables.dataset_readers.image_checks import check_images
from podium.trainables.errors import TrialInputError
from tests.trainables.dataset_readers.trees import write_jpeg


def write(root, *classes, images=2):
    for name in classes:
        for number in range(images):
            write_jpeg(root / name / f"{number}.jpg", shade=len(name) + number)
    return root


def roles_by_class(images):
    return {
        images.class_names[label]: role
        for label, role in zip(images.labels, images.roles, strict=True)
    }


def test_the_first_half_of_the_classes_by_name_is_for_training(tmp_path):
    images = read(write(tmp_path, "d", "b", "a", "c", "e"))
    wanted = {"a": "train", "b": "train", "c": "test", "d": "test", "e": "test"}
    assert roles_by_class(images) == wanted


def test_folders_of_train_and_test_say_it_themselves(tmp_path):
    images = read(write(tmp_path, "train/z", "train/y", "test/a"))
    assert roles_by_class(images) == {"a": "test", "y": "train", "z": "train"}


def test_folders_of_query_and_gallery_say_it_too(tmp_path):
    images = read(write(tmp_path, "train/z", "query/a", "gallery/a"))
    assert images.counts() == {"train": (1, 2), "query": (1, 2), "gallery": (1, 2)}


def test_two_ways_of_testing_at_once_are_refused(tmp_path):
    root = write(tmp_path, "train/z", "test/b", "query/a", "gallery/a")
    with pytest.raises(TrialInputError, match="either test or query and gallery beside train"):
        read(root)


def test_a_class_of_train_and_test_is_refused(tmp_path):
    with pytest.raises(TrialInputError, match="in both: a"):
        read(write(tmp_path, "train/a", "train/b", "test/a"))


def test_what_is_no_image_is_left_out(tmp_path):
    write(tmp_path, "a", "b")
    (tmp_path / ".cache").mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "a" / "Thumbs.db").write_text("theirs")
    (tmp_path / "a" / "._0.jpg").write_text("a Mac's")
    write_jpeg(tmp_path / "b" / "CAPITALS.PNG")
    write(tmp_path, "a/more", "__MACOSX/a", images=3)
    for name in ("x.mov", "y.mov", "README"):
        (tmp_path / "b" / name).write_text("no image")
    images = read(tmp_path)
    names = " ".join(path.name for path in images.paths)
    assert names == "0.jpg 1.jpg 0.jpg 1.jpg CAPITALS.PNG"
    assert images.left_out_text == (
        "left out: 1 files that end in .db, 2 files that end in .mov, 1 files without a suffix,"
        " 3 images in folders within class folders"
    )


def test_what_lies_beside_the_classes_is_counted(tmp_path):
    write(tmp_path, "train/z", "train/y", "test/a", "val/b")
    write_jpeg(tmp_path / "test" / "stray.jpg")
    assert read(tmp_path).left_out == {
        "folders beside train and test": 1,
        "images beside class folders": 1,
    }


@pytest.mark.parametrize("name", ["a/2.jpg", "e", "train.jpg"])
def test_a_link_to_nothing_is_named_or_counted(tmp_path, name):
    write(tmp_path, "a", "b", "c", "d")
    (tmp_path / name).symlink_to(tmp_path / "not-mounted")
    with pytest.raises(TrialInputError, match=f"links to nothing: 1, such as .*{name}"):
        read(tmp_path)
    images = read(tmp_path, allow_partial=True)
    assert len(images.paths) == 8
    assert images.left_out == {"links to nothing": 1}


def test_links_to_images_and_folders_are_read(tmp_path):
    write(tmp_path / "elsewhere", "d")
    write(tmp_path / "root", "a", "b", "c")
    (tmp_path / "root" / "d").symlink_to(tmp_path / "elsewhere" / "d")
    (tmp_path / "root" / "a" / "2.jpg").symlink_to(tmp_path / "elsewhere" / "d" / "0.jpg")
    assert len(read(tmp_path / "root").paths) == 9


@pytest.mark.parametrize("name", [b"cl\xe9", b"\xff"])
def test_a_class_whose_name_is_no_text_is_refused(tmp_path, name):
    write(tmp_path, "a", "b")
    os.mkdir(os.path.join(os.fsencode(tmp_path), name))  # noqa: PTH102, PTH118 - bytes
    with pytest.raises(TrialInputError, match="must be in UTF-8: rename b'"):
        read(tmp_path)
    write(tmp_path / "other", "é", "日本")
    assert read(tmp_path / "other").class_names == ("é", "日本")


@pytest.mark.parametrize("suffix", ["avif", "jp2", "webp", "gif", "tiff"])
def test_formats_that_pillow_decodes_are_read(tmp_path, suffix):
    write(tmp_path, "a", "b")
    Image.new("RGB", (40, 40), (200, 10, 10)).save(tmp_path / "a" / f"9.{suffix}")
    assert check_images(read(tmp_path)).broken == ()
    assert len(read(tmp_path).paths) == 5


def test_a_class_without_images_is_named_with_the_way_round(tmp_path):
    write(tmp_path, "a", "b", "c")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TrialInputError, match=r"without images: 1 of 4, such as .*empty"):
        read(tmp_path)
    assert read(tmp_path, allow_partial=True).class_names == ("a", "b", "c")


def test_a_folder_without_anything_is_reported_the_expected_tree(tmp_path):
    with pytest.raises(TrialInputError, match=r"there are no images\nExpected:\n.*ROOT/CLASS"):
        read(tmp_path)
