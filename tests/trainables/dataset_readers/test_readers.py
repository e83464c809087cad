import re

import pytest
from scipy.io import savemat

from podium.trainables.dataset_readers import cars196, cub200, in_shop, sop
from podium.trainables.dataset_readers.read_images import READERS, read_images
from podium.trainables.errors import TrialInputError
from tests.trainables.dataset_readers import trees

CASES = {
    "cub200": (cub200, trees.write_cub200, trees.CUB200),
    "cars196 together": (cars196, trees.write_cars196_combined, trees.CARS196),
    "cars196 devkit": (cars196, trees.write_cars196_devkit, trees.CARS196),
    "sop": (sop, trees.write_sop, trees.SOP),
    "in_shop": (in_shop, trees.write_in_shop, trees.IN_SHOP),
}
every_layout = pytest.mark.parametrize("case", CASES)


def read(case, root, **options):
    module, _, counts = CASES[case]
    return module.read(root, **{"published": counts, **options})


def written(case, root):
    return CASES[case][1](root)


def with_class_names(images):
    return [(images.class_names[label], role) for label, role in images_by_class(images)]


def images_by_class(images):
    return sorted(set(zip(images.labels, images.roles, strict=True)))


def replace(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@every_layout
def test_a_whole_tree_is_read(case, tmp_path):
    images = read(case, written(case, tmp_path))
    assert images.counts() == CASES[case][2]
    assert all(path.is_file() for path in images.paths)
    assert list(images.class_names) == sorted(images.class_names)


@every_layout
def test_the_unpacked_folder_itself_is_as_good_as_the_one_above(case, tmp_path):
    (folder,) = written(case, tmp_path).iterdir()
    assert read(case, folder) == read(case, tmp_path)


@every_layout
def test_counts_other_than_published_are_an_error_that_names_the_way_round(case, tmp_path):
    root = written(case, tmp_path)
    counts = CASES[case][2]
    classes, number = counts["train"]
    wrong = {**counts, "train": counts["train"]._replace(images=number + 1)}
    message = (
        f"train must have {classes} classes with {number + 1} images; got {classes} with {number} "
        "(allow_partial: true, or --allow-partial of podium datasets, accepts what is there)"
    )
    with pytest.raises(TrialInputError, match=re.escape(message)):
        read(case, root, published=wrong)
    assert read(case, root, published=wrong, allow_partial=True) == read(case, root)


@every_layout
def test_a_missing_image_is_named_with_the_expected_tree(case, tmp_path):
    whole = read(case, written(case, tmp_path))
    whole.paths[0].unlink()
    total = len(whole.paths)
    with pytest.raises(TrialInputError) as caught:
        read(case, tmp_path)
    assert f"images that are missing: 1 of {total}, {whole.paths[0]}" in str(caught.value)
    assert "Expected:\n" in str(caught.value)
    assert "From https://" in str(caught.value)
    assert read(case, tmp_path, allow_partial=True).paths == whole.paths[1:]


@every_layout
def test_an_empty_folder_is_reported_the_expected_tree(case, tmp_path):
    with pytest.raises(TrialInputError, match="has no ") as caught:
        read(case, tmp_path)
    assert "Expected:\n" in str(caught.value)


@pytest.mark.parametrize("name", READERS)
def test_a_root_that_is_not_there_is_named(name, tmp_path):
    root = tmp_path / "nowhere"
    with pytest.raises(TrialInputError, match=re.escape(str(root))):
        read_images(name, root)


@pytest.mark.parametrize("name", sorted(set(READERS) - {"folder"}))
def test_what_was_published_is_the_default(name, tmp_path):
    case = "cars196 devkit" if name == "cars196" else name
    written(case, tmp_path)
    counts = CASES[case][0].PUBLISHED["test" if name != "in_shop" else "query"]
    message = f"must have {counts.classes} classes with {counts.images} images; got"
    with pytest.raises(TrialInputError, match=message):
        read_images(name, tmp_path)


def test_a_root_that_the_system_refuses_is_an_error_of_the_user(tmp_path):
    with pytest.raises(TrialInputError, match=r"there is no folder|cannot be read: File name too"):
        read_images("folder", tmp_path / ("x" * 300))


def test_an_unknown_data_set_shows_the_nearest(tmp_path):
    with pytest.raises(TrialInputError, match=r"unknown data set 'cub2000' \(did you mean 'cub20"):
        read_images("cub2000", tmp_path)


def test_birds_are_parted_by_class_and_not_by_the_classification_split(tmp_path):
    images = read("cub200", trees.write_cub200(tmp_path))
    assert with_class_names(images) == [
        ("001.Black_footed_Albatross", "train"),
        ("002.Laysan_Albatross", "train"),
        ("003.Sooty_Albatross", "test"),
        ("004.Ani", "test"),
    ]


BIRDS, PRODUCTS = "CUB_200_2011", "Stanford_Online_Products"
WRONG_LINES = [
    ("image_class_labels.txt", "10 4", "10 3", r"of its class, 003.Sooty_Albatross; got 004"),
    ("image_class_labels.txt", "10 4\n", "", "image 10 must have a class"),
    ("classes.txt", "2 002.Laysan_Albatross", "2", r"classes.txt, line 2 must have 2 columns"),
    (
        "Ebay_test.txt",
        "image_id class_id",
        "image class",
        r"Ebay_test.txt must begin with the line",
    ),
    ("Ebay_test.txt", "6 3 2", "6 third 2", "must be whole numbers from 1 on; got 'third'"),
]


@pytest.mark.parametrize(("file", "old", "new", "message"), WRONG_LINES)
def test_a_wrong_line_of_a_list_is_named(file, old, new, message, tmp_path):
    case, folder = ("sop", PRODUCTS) if file == "Ebay_test.txt" else ("cub200", BIRDS)
    root = written(case, tmp_path)
    replace(root / folder / file, old, new)
    with pytest.raises(TrialInputError, match=message):
        read(case, root)


def test_the_name_of_a_bird_must_begin_with_its_number(tmp_path):
    root = trees.write_cub200(tmp_path)
    replace(root / BIRDS / "classes.txt", "2 002.Laysan", "2 003.Laysan")
    with pytest.raises(TrialInputError, match=r"begin with its number, .*; got 2 003.Laysan_Alb"):
        read("cub200", root, allow_partial=True)


def test_a_text_file_that_is_missing_is_named(tmp_path):
    root = trees.write_cub200(tmp_path)
    (root / "CUB_200_2011" / "classes.txt").unlink()
    with pytest.raises(TrialInputError, match=r"classes.txt is missing\nExpected:"):
        read("cub200", root)


@pytest.mark.parametrize("case", ["cars196 together", "cars196 devkit"])
def test_cars_are_parted_by_class_id_and_not_by_name_or_test_flag(case, tmp_path):
    images = read(case, written(case, tmp_path))
    assert with_class_names(images) == [
        ("AM General Hummer SUV 2000", "train"),
        ("Acura RL", "test"),
        ("BMW M3", "test"),
        ("smart fortwo Convertible 2012", "train"),
    ]


def test_labels_of_test_cars_may_lie_beside_the_devkit(tmp_path):
    trees.write_cars196_devkit(tmp_path, labels_beside_devkit=True)
    assert read("cars196 devkit", tmp_path).counts() == trees.CARS196


def test_cars_may_lie_in_a_folder_of_their_folder_s_name(tmp_path):
    folder = trees.write_cars196_devkit(tmp_path) / "stanford_cars"
    (folder / "cars_test").rename(folder / "moved")
    (folder / "cars_test").mkdir()
    (folder / "moved").rename(folder / "cars_test" / "cars_test")
    assert read("cars196 devkit", tmp_path).counts() == trees.CARS196


def test_unlabelled_test_cars_are_not_enough(tmp_path):
    root = trees.write_cars196_devkit(tmp_path)
    devkit = root / "stanford_cars" / "devkit"
    (devkit / "cars_test_annos_withlabels.mat").rename(devkit / "cars_test_annos.mat")
    with pytest.raises(TrialInputError, match=r"cars_test_annos_withlabels.mat is missing"):
        read("cars196 devkit", root)


def test_a_damaged_matlab_file_is_named(tmp_path):
    root = trees.write_cars196_combined(tmp_path)
    file = root / "cars196" / "cars_annos.mat"
    whole = file.read_bytes()
    for damaged in (b"", b"no MATLAB file", whole[:200], whole[:-50]):
        file.write_bytes(damaged)
        with pytest.raises(TrialInputError, match=r"cars_annos.mat (cannot be read|must have)"):
            read("cars196 together", root)


def test_a_matlab_file_of_something_else_is_named(tmp_path):
    root = trees.write_cars196_combined(tmp_path)
    savemat(root / "cars196" / "cars_annos.mat", {"class_names": ["a", "b"], "annotations": [1]})
    with pytest.raises(TrialInputError, match="must have annotations with relative_im_path"):
        read("cars196 together", root)


def test_a_product_is_named_after_its_number_and_kind(tmp_path):
    images = read("sop", trees.write_sop(tmp_path))
    assert images.class_names == ("00001.bicycle", "00002.bicycle", "00003.chair", "00004.chair")


@pytest.mark.parametrize("lists", ["online_products", "online_products/images"])
def test_products_may_lie_as_in_older_code(lists, tmp_path):
    folder = trees.write_sop(tmp_path) / "Stanford_Online_Products"
    (tmp_path / "online_products").mkdir()
    images = folder.rename(tmp_path / "online_products" / "images")
    for file in images.glob("*.txt"):
        file.rename(tmp_path / lists / file.name)
    assert read("sop", tmp_path).counts() == trees.SOP


def test_products_to_train_on_must_be_the_first_ones(tmp_path):
    root = trees.write_sop(tmp_path)
    folder = root / "Stanford_Online_Products"
    for name, old, new in (("train", " 2 1 bicycle", " 3 1 bicycle"), ("test", " 3 2 ", " 2 2 ")):
        replace(folder / f"Ebay_{name}.txt", old, new)
    with pytest.raises(TrialInputError, match="classes 1 to 2 must be the training classes"):
        read("sop", root)
    replace(folder / "Ebay_test.txt", " 2 2 ", " 7 2 ")
    with pytest.raises(TrialInputError, match="without gaps, as published; there is no class 2"):
        read("sop", root)
    assert len(read("sop", root, allow_partial=True).paths) == 9


def test_an_image_that_is_listed_twice_is_named(tmp_path):
    root = trees.write_sop(tmp_path)
    file = root / "Stanford_Online_Products" / "Ebay_test.txt"
    file.write_text(file.read_text() + file.read_text().splitlines()[-1])
    with pytest.raises(TrialInputError, match="must be listed once"):
        read("sop", root)


def test_a_class_on_both_sides_is_refused_even_of_a_part(tmp_path):
    root = trees.write_sop(tmp_path)
    file = root / "Stanford_Online_Products" / "Ebay_test.txt"
    replace(file, "6 3 2 chair_final", "6 2 1 bicycle_final")
    (path,) = (root / "Stanford_Online_Products").glob("chair_final/*_6.JPG")
    path.rename(path.parents[1] / "bicycle_final" / path.name)
    with pytest.raises(TrialInputError, match=r"in both: 00002.bicycle"):
        read("sop", root, allow_partial=True)
