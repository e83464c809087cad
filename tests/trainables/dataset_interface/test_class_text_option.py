"""The option ``class_text``, which goes with every data set."""

import os
import re

import numpy as np
import pytest

from podium.trainables.dataset_interface.class_text import write_class_text
from podium.trainables.dataset_interface.load_dataset import dataset_facts, load_dataset
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import DatasetSettings

SMALL = {"classes": 8, "instances_per_class": 2, "size": 16}


@pytest.fixture
def plain(cache_folder):
    return load_dataset(DatasetSettings(name="glyphs", options=SMALL), cache_folder)


def vectors_of(dataset, seed=0):
    generator = np.random.default_rng(seed)
    names = sorted(dataset.class_names, reverse=True)
    return {name: generator.normal(size=3).astype(np.float32) for name in names}


def settings_with(path, **options):
    return DatasetSettings(name="glyphs", options={**SMALL, **options, "class_text": str(path)})


def test_the_text_of_each_training_class_is_that_of_its_name(tmp_path, cache_folder, plain):
    vectors = vectors_of(plain)
    write_class_text(tmp_path / "text.csv", vectors)
    dataset = load_dataset(settings_with(tmp_path / "text.csv"), cache_folder)
    for class_id, row in zip(dataset.train_classes, dataset.class_text_CT, strict=True):
        np.testing.assert_array_equal(row, vectors[dataset.class_names[class_id]])
    chosen = dataset.train_classes[::-2]
    expected = [vectors[dataset.class_names[class_id]] for class_id in chosen]
    np.testing.assert_array_equal(dataset.text_of_classes(chosen), expected)


def test_test_classes_need_no_text(tmp_path, cache_folder, plain):
    vectors = {name: vectors_of(plain)[name] for name in plain.train_class_names}
    write_class_text(tmp_path / "text.csv", vectors)
    load_dataset(settings_with(tmp_path / "text.csv"), cache_folder)
    del vectors[plain.train_class_names[0]]
    write_class_text(tmp_path / "less.csv", vectors)
    with pytest.raises(TrialInputError, match="1 of 4 are missing"):
        load_dataset(settings_with(tmp_path / "less.csv"), cache_folder)


def test_the_same_settings_give_the_same_object_until_the_file_changes(
    tmp_path, cache_folder, plain
):
    path = tmp_path / "text.csv"
    write_class_text(path, vectors_of(plain))
    first = load_dataset(settings_with(path), cache_folder)
    assert load_dataset(settings_with(path), cache_folder) is first
    path.unlink()
    write_class_text(path, vectors_of(plain, seed=1))
    os.utime(path, ns=(1, 1))
    assert load_dataset(settings_with(path), cache_folder).fingerprint != first.fingerprint


def test_the_fingerprint_follows_the_vectors_and_not_the_file(tmp_path, cache_folder, plain):
    vectors = vectors_of(plain)
    write_class_text(tmp_path / "one.csv", vectors)
    write_class_text(
        tmp_path / "other.csv",
        {**vectors, "a class of another data set": vectors[plain.class_names[0]]},
    )
    changed = {**vectors, plain.train_class_names[1]: np.float32([1, 2, 3])}
    write_class_text(tmp_path / "changed.csv", changed)
    one, other, changed = (
        load_dataset(settings_with(tmp_path / f"{name}.csv"), cache_folder)
        for name in ("one", "other", "changed")
    )
    assert one.fingerprint == other.fingerprint
    assert len({plain.fingerprint, one.fingerprint, changed.fingerprint}) == 3
    assert plain.test_hash == one.test_hash == changed.test_hash


def test_a_data_set_without_text_stays_as_it_is(tmp_path, cache_folder, plain):
    write_class_text(tmp_path / "text.csv", vectors_of(plain))
    load_dataset(settings_with(tmp_path / "text.csv"), cache_folder)
    again = load_dataset(DatasetSettings(name="glyphs", options=SMALL), cache_folder)
    assert again is plain
    assert again.class_text_CT is None
    with pytest.raises(TrialInputError, match="needs the option class_text, a file of vectors"):
        again.text_of_classes(again.train_classes)


def test_facts_do_not_look_for_the_file(tmp_path):
    assert dataset_facts(settings_with(tmp_path / "no.csv")).num_train_classes == 4


@pytest.mark.parametrize("path", [3, True, ""])
def test_a_path_is_a_text(cache_folder, path):
    settings = DatasetSettings(name="glyphs", options={"class_text": path})
    message = f"data set glyphs: class_text must be the path of a file; got {path!r}"
    for function in (dataset_facts, lambda settings: load_dataset(settings, cache_folder)):
        with pytest.raises(TrialInputError, match=re.escape(message)):
            function(settings)
