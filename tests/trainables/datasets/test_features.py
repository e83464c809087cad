from pathlib import Path

import numpy as np
import pytest

from podium.trainables.dataset_interface.load_dataset import dataset_facts, load_dataset
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import DatasetSettings
from tests.trainables.feature_folder import write_feature_files

ROWS = (
    ("b", "train"),
    ("a", "train"),
    ("d", "test"),
    ("b", "train"),
    ("c", "test"),
    ("a", "train"),
    ("c", "test"),
    ("d", "test"),
)
VALUES = np.random.default_rng(0).standard_normal((8, 3)).astype(np.float32)
QUERIES = [(name, "query" if name in "cd" else "train") for name, _ in ROWS]
WITH_GALLERY = (*QUERIES[:-2], ("c", "gallery"), ("d", "gallery"))


def written(folder, values=VALUES, rows=ROWS):
    write_feature_files(folder, values, rows)
    return folder


def settings(folder):
    return DatasetSettings(name="features", options={"root": str(folder)})


def loaded(folder):
    return load_dataset(settings(folder), None)


def refused(folder, match):
    with pytest.raises(TrialInputError, match=match):
        loaded(folder)


def test_classes_and_halves_are_as_the_file_says(tmp_path):
    dataset = loaded(written(tmp_path))
    assert dataset.class_names == ("a", "b", "c", "d")
    assert (dataset.train_classes, dataset.test_classes) == ((0, 1), (2, 3))
    assert dataset.labels.tolist() == [1, 0, 3, 1, 2, 0, 2, 3]
    assert dataset.gallery_N is None


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_rows_are_float32_in_the_order_asked_for(tmp_path, dtype):
    dataset = loaded(written(tmp_path, VALUES.astype(dtype)))
    rows = dataset.vectors.rows(np.array([5, 0]))
    assert rows.dtype == np.float32
    assert rows.flags.writeable
    np.testing.assert_array_equal(rows, VALUES.astype(dtype)[[5, 0]])


def test_the_vectors_stay_where_they_are(tmp_path):
    values = loaded(written(tmp_path)).vectors.values_NF
    assert isinstance(values, np.memmap)
    assert Path(values.filename) == (tmp_path / "features.npy")


def test_images_of_the_gallery_never_ask(tmp_path):
    dataset = loaded(written(tmp_path, rows=WITH_GALLERY))
    assert dataset.gallery_N.tolist() == [False] * 6 + [True] * 2
    assert dataset.test_classes == (2, 3)


def test_the_facts_are_those_of_the_files(tmp_path):
    facts = dataset_facts(settings(written(tmp_path)))
    assert (facts.num_train_classes, facts.num_test_classes, facts.num_images) == (2, 2, 8)
    assert facts.num_features == 3
    assert str(tmp_path) in facts.description


def test_the_files_are_what_numpy_and_a_csv_writer_give(tmp_path):
    np.save(tmp_path / "features.npy", VALUES)
    lines = ["class,role", *(",".join(row) for row in ROWS)]
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
    by_hand = loaded(tmp_path)
    assert by_hand.fingerprint == loaded(written(tmp_path / "other")).fingerprint


def test_every_number_and_role_is_in_the_fingerprint_and_names_of_images_are_not(tmp_path):
    other = VALUES.copy()
    other[1, 2] += 1.0
    tested = VALUES.copy()
    tested[2, 0] += 1.0
    swapped = ((("b", "test"), ("a", "test")), (("d", "train"), ("c", "train")))
    turned = [(name, dict(swapped[0] + swapped[1])[name]) for name, _ in ROWS]
    variants = [
        loaded(written(tmp_path / "as it is")),
        loaded(written(tmp_path / "trained", other)),
        loaded(written(tmp_path / "tested", tested)),
        loaded(written(tmp_path / "half", VALUES.astype(np.float16))),
        loaded(written(tmp_path / "turned", rows=turned)),
        loaded(written(tmp_path / "queries", rows=WITH_GALLERY)),
    ]
    assert len({dataset.fingerprint for dataset in variants}) == len(variants)
    assert variants[0].test_hash == variants[1].test_hash != variants[2].test_hash
    named = loaded(written(tmp_path / "named", rows=[(*row, "x.jpg") for row in ROWS]))
    assert named.fingerprint == variants[0].fingerprint


def test_there_are_no_pictures_of_it(tmp_path):
    with pytest.raises(TrialInputError, match="features has vectors of 3 features and no images"):
        loaded(written(tmp_path)).thumbnail_png(0)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_named_with_its_place(tmp_path, value):
    bad = np.tile(VALUES, (300, 1))
    bad[1701, 1] = value
    rows = [(*row, f"{place}.jpg") for place, row in enumerate(ROWS * 300)]
    refused(
        written(tmp_path, bad, rows),
        rf"got {value} in row 1702, column 2 \(1701\.jpg of class 'a'\)",
    )


@pytest.mark.parametrize("missing", ["features.npy", "labels.csv"])
def test_a_missing_file_is_named_with_the_form_of_both(tmp_path, missing):
    (written(tmp_path) / missing).unlink()
    refused(tmp_path, rf"there is no file .*{missing}; a data set of features is\n +ROOT/features")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (VALUES[0], r"float32 or float16 and of shape \(images, features\); got .* shape \(3,\)"),
        (VALUES[:, :0], r"of shape \(8, 0\)"),
        (VALUES.astype(np.float64), "got float64"),
        (VALUES.astype(np.int64), "got int64"),
        (VALUES[:7], "got 8 lines for 7 rows"),
    ],
)
def test_an_array_of_another_form_is_refused(tmp_path, values, told):
    refused(written(tmp_path, values), told)


def test_what_is_no_array_is_refused(tmp_path):
    file = written(tmp_path) / "features.npy"
    file.write_bytes(b"not an array")
    refused(tmp_path, r"features.npy must be an array saved by numpy.save")
    with file.open("wb") as archive:
        np.savez(archive, features=VALUES)
    refused(tmp_path, "must hold one array, not an archive")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([*ROWS[:-1], ("d", "val")], "line 9: the role must be one of train, .*; got 'val'"),
        ([*ROWS[:-1], ("", "test")], "line 9: the class must not be empty"),
        ([*ROWS[:-1], ("d", "train")], r"1 are in both, such as 'd'"),
        ([*ROWS[:-1], ("d", "query")], "got the roles query, test, train"),
        (QUERIES, "images of both roles, query and gallery; got the roles query, train"),
        ([("a", "train"), ("c", "test")] * 4, "2 classes or more for training; got 1"),
        ([("a", "train"), ("b", "train")] * 4, "2 classes or more for testing; got 0"),
    ],
)
def test_labels_that_make_no_data_set_are_refused(tmp_path, rows, told):
    refused(written(tmp_path, rows=rows), told)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "line 1 must name the columns class and role, each once; got ''"),
        ("class\na\n", "line 1 must name the columns class and role"),
        ("class,role,role\n", "each once"),
        (",class,role\n0,a,train\n", "unknown column in .* ''; known: class, image, role"),
        ("class,rol\n", r"'rol' \(did you mean 'role'\?\)"),
        ("class,role\na\n", "line 2 must have 2 cells, as the header has; got 1"),
        ("class,role\na,train\n", "got 1 lines for 8 rows"),
        ('class,role\na,"train\n', "must be CSV in UTF-8"),
    ],
)
def test_a_file_of_labels_of_another_form_is_refused(tmp_path, text, told):
    (written(tmp_path) / "labels.csv").write_text(text)
    refused(tmp_path, told)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (written(tmp_path) / "labels.csv").write_bytes(b"class,role\n\xff\xfe,train\n")
    refused(tmp_path, "must be CSV in UTF-8")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "root must be the folder of the files; got None"),
        ({"root": 3}, "got 3"),
        ({"root": ""}, "got ''"),
        ({"rot": "."}, r"unknown option of features 'rot' \(did you mean 'root'\?\)"),
    ],
)
def test_options_are_checked_before_anything_is_read(options, told):
    with pytest.raises(TrialInputError, match=told):
        dataset_facts(DatasetSettings(name="features", options=options))
