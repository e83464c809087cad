"""The images of a study's data sets, where these are on this machine."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from PIL import Image

from podium.errors import PodiumError
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.settings.trial_settings import DatasetSettings


def images_at_hand(
    study: Mapping[str, Any],
) -> Callable[[str, str], Callable[[int], Image.Image | None] | None]:
    """The reader that `analysis.study_results.study_results.TestImages` describes.

    A data set is read on first use, and its images are given only where its test has the hash that
    the results have: pages never show images of another test.
    """
    given = [DatasetSettings(name=it["name"], options=it["options"]) for it in study["datasets"]]
    settings = {item.label: item for item in given}

    @cache
    def loaded(label: str) -> Dataset | None:
        if label not in settings:
            return None
        try:
            return load_dataset(settings[label], None)
        except (PodiumError, OSError):
            return None

    def reader(label: str, test_hash: str) -> Callable[[int], Image.Image | None] | None:
        dataset = loaded(label)
        if dataset is None or dataset.vectors is not None or dataset.test_hash != test_hash:
            return None
        return lambda index: _image(dataset, index)

    return reader


def _image(dataset: Dataset, index: int) -> Image.Image | None:
    try:
        return Image.fromarray(dataset.pixels.image(index))
    except (PodiumError, OSError):
        return None
