"""Images of a study's data sets are given only where they are those that were tested."""

import numpy as np

from podium.api.images_at_hand import images_at_hand
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.settings.trial_settings import DatasetSettings

GREEK = {"name": "glyphs", "options": {"script": "greek", "classes": 8}}


def test_images_are_those_of_the_data_set():
    dataset = load_dataset(DatasetSettings(**GREEK), None)
    image_of = images_at_hand({"datasets": [GREEK]})("glyphs-greek", dataset.test_hash)

    assert np.array_equal(np.asarray(image_of(5)), dataset.pixels.image(5))


def test_images_of_another_test_are_not_given():
    reader = images_at_hand({"datasets": [GREEK]})

    assert reader("glyphs-greek", "another hash") is None
    assert reader("no such data set", "hash") is None


def test_a_data_set_that_is_not_on_this_machine_has_none(tmp_path):
    folder = {"name": "folder", "options": {"root": str(tmp_path / "missing"), "label": "mine"}}

    assert images_at_hand({"datasets": [folder]})("mine", "hash") is None


def test_an_image_that_cannot_be_read_any_more_is_none(tmp_path):
    from PIL import Image

    for name in ("a", "b", "c", "d", "e", "f"):
        (tmp_path / name).mkdir()
        for number in range(2):
            colour = (ord(name), number, 0)
            Image.new("RGB", (40, 40), colour).save(tmp_path / name / f"{number}.png")
    folder = {"name": "folder", "options": {"root": str(tmp_path), "label": "mine"}}
    dataset = load_dataset(DatasetSettings(**folder), None)
    image_of = images_at_hand({"datasets": [folder]})("mine", dataset.test_hash)
    assert image_of(0).size == (40, 40)

    (tmp_path / "a" / "0.png").unlink()
    assert image_of(0) is None
