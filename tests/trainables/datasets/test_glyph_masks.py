"""Glyphs by the overlap of their ink, and label distances beside any data set."""

import numpy as np
import pytest

from podium.trainables.dataset_interface.load_dataset import dataset_facts, load_dataset
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import DatasetSettings

SMALL = {"classes": 12, "instances_per_class": 4}


def small(name, **options):
    return DatasetSettings(name=name, options={**SMALL, **options})


def test_the_label_distance_of_two_glyphs_is_one_minus_the_iou_of_their_ink(cache_folder):
    dataset = load_dataset(small("glyph_masks"), cache_folder)
    first, second = dataset.pixels.images_NHW[3] >= 128, dataset.pixels.images_NHW[17] >= 128
    expected = 1 - (first & second).sum() / (first | second).sum()
    (found,) = dataset.label_distances.between(np.array([3]), np.array([17])).ravel()
    assert found == pytest.approx(expected)
    assert 0.2 < found < 1.0


def test_images_and_halves_are_those_of_the_glyphs_but_results_never_mix(cache_folder):
    masks = load_dataset(small("glyph_masks"), cache_folder)
    glyphs = load_dataset(small("glyphs"), cache_folder)
    np.testing.assert_array_equal(masks.pixels.images_NHW, glyphs.pixels.images_NHW)
    assert masks.train_classes == glyphs.train_classes
    assert (masks.task, glyphs.task) == ("continuous", "classes")
    assert masks.test_hash != glyphs.test_hash
    assert masks.fingerprint != glyphs.fingerprint


def test_facts_say_the_task_and_the_defaults_are_small():
    assert dataset_facts(DatasetSettings(name="glyphs")).task == "classes"
    facts = dataset_facts(DatasetSettings(name="glyph_masks"))
    assert facts.task == "continuous"
    assert facts.num_images == 1280
    assert "overlap of their ink" in facts.description


def test_an_option_that_is_wrong_is_reported_under_the_name_of_the_data_set():
    with pytest.raises(TrialInputError, match="data set glyph_masks: classes must be"):
        dataset_facts(small("glyph_masks", classes=3))


def test_a_file_of_label_distances_makes_any_data_set_continuous(cache_folder, tmp_path):
    path = tmp_path / "poses.npy"
    np.save(path, np.random.default_rng(0).normal(size=(48, 3)))
    with_file = small("glyphs", label_distances=str(path))
    assert dataset_facts(with_file).task == "continuous"
    dataset, plain = load_dataset(with_file, cache_folder), load_dataset(small("glyphs"), None)
    assert dataset.task == "continuous"
    assert plain.task == "classes"
    assert load_dataset(with_file, cache_folder) is dataset
    assert dataset.fingerprint != plain.fingerprint
    np.save(path, np.random.default_rng(1).normal(size=(48, 30)))
    changed = load_dataset(with_file, cache_folder)
    assert changed.fingerprint != dataset.fingerprint, "another content is read again"
    assert changed.test_hash != dataset.test_hash


def test_the_distance_of_label_vectors_is_squared_on_request(cache_folder, tmp_path):
    path = tmp_path / "poses.npy"
    np.save(path, np.random.default_rng(0).normal(size=(48, 3)))
    plain = small("glyphs", label_distances=str(path))
    squared = small("glyphs", label_distances=str(path), label_metric="squared_euclidean")
    assert dataset_facts(squared).description.endswith("poses.npy (squared_euclidean)")
    found = [load_dataset(settings, cache_folder) for settings in (plain, squared)]
    one, others = np.array([3]), np.arange(48)
    plain_C, squared_C = (it.label_distances.between(one, others)[0] for it in found)
    np.testing.assert_allclose(squared_C, plain_C**2)
    assert found[0].test_hash != found[1].test_hash


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"label_metric": "euclidean"}, "glyphs: label_metric is the distance of the vectors in"),
        ({"label_metric": "squared", "label_distances": "poses.npy"}, "unknown label_metric"),
    ],
)
def test_a_metric_of_labels_that_is_unknown_or_without_vectors_is_refused(options, problem):
    with pytest.raises(TrialInputError, match=problem):
        dataset_facts(small("glyphs", **options))


def test_a_file_that_does_not_fit_is_reported_before_anything_is_rendered(tmp_path):
    path = tmp_path / "poses.npy"
    np.save(path, np.zeros((47, 47)))
    with pytest.raises(TrialInputError, match=r"each of the 48 images.*got shape \(47, 47\)"):
        dataset_facts(small("glyphs", label_distances=str(path)))
    with pytest.raises(TrialInputError, match="label_distances must be the path of a file; got 3"):
        dataset_facts(small("glyphs", label_distances=3))
