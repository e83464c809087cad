import json

import pytest

from tests.podium.calling import call
from tests.trainables.dataset_readers.trees import write_jpeg


@pytest.fixture
def root(tmp_path):
    for shade, name in enumerate("abcd"):
        for number in range(2):
            write_jpeg(tmp_path / name / f"{number}.jpg", shade=40 * shade + 5 * number)
    return tmp_path


def test_it_prints_a_row_for_each_role(capsys, root):
    checked = call(capsys, "datasets", "check", "folder", root)
    assert checked.code == 0
    header, train, test = checked.out.splitlines()
    assert header.split()[:6] == ["role", "classes", "images", "min", "median", "max"]
    assert train.split() == ["train", "2", "4", "2", "2", "2", "0", "40", "RGB", "4"]
    assert test.split() == ["test", "2", "4", "2", "2", "2", "0", "40", "RGB", "4"]
    assert checked.err == ""


def test_broken_images_are_named_and_exit_code_2(capsys, root):
    (root / "b" / "1.jpg").write_text("no image")
    checked = call(capsys, "datasets", "check", "folder", root)
    assert checked.code == 2
    assert "podium: folder: 1 of 8 images cannot be read:\n" in checked.err
    assert f"  {root / 'b' / '1.jpg'}: its image format is unknown" in checked.err


def test_everything_is_there_as_json(capsys, root):
    (root / "b" / "1.jpg").write_text("no image")
    write_jpeg(root / "c" / "0.jpg", size=(8, 8))
    checked = call(capsys, "datasets", "check", "folder", root, "--duplicates", "--json")
    assert checked.code == 2
    found = json.loads(checked.out)
    assert (found["dataset"], found["root"]) == ("folder", str(root))
    assert found["roles"][0]["modes"] == {"RGB": 3}
    assert [image["path"] for image in found["broken"]] == [str(root / "b" / "1.jpg")]
    assert found["tiny"] == [str(root / "c" / "0.jpg")]
    assert found["duplicates"] == found["leaks"] == []


def test_what_is_no_error_is_reported_below_the_table(capsys, root):
    small = write_jpeg(root / "c" / "0.jpg", size=(8, 8))
    (root / "d" / "0.jpg").write_bytes(small.read_bytes())
    checked = call(capsys, "datasets", "check", "folder", root, "--duplicates")
    assert checked.code == 0
    assert f"Images with a side below 32 pixels: 2\n  {small}\n" in checked.out
    assert f"Groups of files of equal bytes: 1\n  {small}, {root / 'd' / '0.jpg'}" in checked.out
    assert "train on and to test on" not in checked.out
    (root / "a" / "0.jpg").write_bytes(small.read_bytes())
    checked = call(capsys, "datasets", "check", "folder", root, "--duplicates")
    assert f"to train on and to test on: 1\n  {root / 'a' / '0.jpg'}, {small}, " in checked.out


@pytest.mark.parametrize(
    ("dataset", "told"),
    [
        ("sop", "podium: sop: {} has no Ebay_train.txt\nExpected:\n"),
        ("folder", "there must be a folder for each class; {} has one folder alone"),
        ("imagenet", "known: cars196, cub200, folder, in_shop, sop"),
    ],
)
def test_what_cannot_be_checked_is_exit_code_2_with_what_is_expected(
    capsys, tmp_path, dataset, told
):
    write_jpeg(tmp_path / "a" / "0.jpg")
    checked = call(capsys, "datasets", "check", dataset, tmp_path)
    assert checked.code == 2
    assert told.format(tmp_path) in checked.err
