"""What the base class promises for every data set, on a tiny one."""

import io

import numpy as np
import pytest
from PIL import Image

from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.decoded_pixels import ArrayPixels

NAMES = ["a", "b", "c", "d"]
LABELS = np.array([0, 0, 1, 1, 2, 2, 3, 3])
IMAGES = np.random.default_rng(0).integers(0, 256, (8, 5, 4), dtype=np.uint8)


class Tiny(Dataset):
    name = "tiny"

    @classmethod
    def facts(cls, options):
        raise NotImplementedError

    @classmethod
    def load(cls, options, cache_folder):
        return tiny(**options)


def tiny(names=NAMES, tests=("b", "d"), labels=LABELS, images=IMAGES):
    return Tiny(
        class_names=names, test_class_names=tests, labels=labels, pixels=ArrayPixels(images)
    )


def changed(images, index):
    copy = images.copy()
    copy[index, 0, 0] ^= 1
    return copy


def test_class_ids_index_the_sorted_names():
    dataset = tiny()
    assert dataset.class_names == ("a", "b", "c", "d")
    assert (dataset.train_classes, dataset.test_classes) == ((0, 2), (1, 3))


def test_many_classes_are_halved_at_once():
    """Products have 22,634 of them, and each worker does it."""
    looks = []

    class Names(list):
        def __iter__(self):
            looks.append(1)
            return super().__iter__()

    names = [f"{number:04d}" for number in range(1000)]
    dataset = tiny(names, Names(names[500:]), np.arange(1000), np.zeros((1000, 1, 1), np.uint8))
    assert dataset.test_classes == tuple(range(500, 1000))
    assert len(looks) == 1


def test_the_fingerprint_changes_with_everything_that_can_change_a_number():
    variants = [
        tiny(),
        tiny(names=["a", "b", "c", "e"], tests=("b", "e")),
        tiny(tests=("b",)),
        tiny(labels=LABELS[::-1].copy()),
        tiny(images=changed(IMAGES, 0)),
        tiny(images=changed(IMAGES, 2)),
    ]
    assert len({dataset.fingerprint for dataset in variants}) == len(variants)
    assert tiny().fingerprint == tiny().fingerprint


def test_the_test_hash_changes_with_the_test_alone():
    reference = tiny().test_hash
    without_class_a = tiny(names=NAMES[1:], labels=LABELS[2:] - 1, images=IMAGES[2:])
    assert without_class_a.test_hash == reference
    assert tiny(images=changed(IMAGES, 0)).test_hash == reference
    assert tiny(images=changed(IMAGES, 2)).test_hash != reference
    assert tiny(tests=("b",)).test_hash != reference
    assert tiny(names=["a", "b", "c", "e"], tests=("b", "e")).test_hash != reference


def test_a_thumbnail_is_the_image_as_a_png():
    png = tiny().thumbnail_png(3)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(png))), IMAGES[3])


def test_a_thumbnail_of_a_photograph_is_small_and_looks_like_it():
    rows, columns = np.mgrid[:375, :500] / 500
    waves = [np.sin(7 * rows + 3 * columns), np.cos(9 * columns), np.sin(11 * rows * columns)]
    grain = np.random.default_rng(0).normal(0, 8, (375, 500, 3))
    photograph = (128 + 90 * np.stack(waves, -1) + grain).clip(0, 255).astype(np.uint8)
    dataset = tiny(images=np.broadcast_to(photograph, (8, *photograph.shape)))
    png = dataset.thumbnail_png(3)
    shown = Image.open(io.BytesIO(png)).convert("RGB")
    assert shown.size == (96, 72)
    assert len(png) < 6_000
    expected = np.asarray(Image.fromarray(photograph).resize((96, 72)), dtype=float)
    assert np.abs(np.asarray(shown, dtype=float) - expected).mean() < 12  # of 255


@pytest.mark.parametrize("names", [["b", "a", "c", "d"], ["a", "a", "c", "d"]])
def test_class_names_are_sorted_and_unique(names):
    with pytest.raises(TrialInputError, match="tiny: class names must be sorted and unique"):
        tiny(names=names)


@pytest.mark.parametrize("labels", [LABELS[:7], LABELS + 1, np.zeros(8, np.int64)])
def test_every_image_has_a_label_and_every_class_an_image(labels):
    with pytest.raises(TrialInputError, match=r"one label and every class an image; got 8 images"):
        tiny(labels=labels)
