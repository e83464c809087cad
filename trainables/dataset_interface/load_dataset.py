"""Data sets by their settings.

Two files may go with any data set: ``label_distances``, by which images are retrieved instead of
by class (of vectors in it ``label_metric`` is the distance), and ``class_text``, vectors for the
names of classes.
"""

import json
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from podium.trainables.dataset_interface.class_text import read_class_text
from podium.trainables.dataset_interface.dataset import Dataset, DatasetFacts
from podium.trainables.dataset_interface.label_distances import (
    LABEL_METRICS,
    LabelMetric,
    check_label_distance_file,
    read_label_distances,
)
from podium.trainables.errors import TrialInputError, unknown_name
from podium.trainables.file_caches.array_cache import cache_folder_at
from podium.trainables.file_caches.file_hashes import read_anew
from podium.trainables.registry import load
from podium.trainables.settings.trial_settings import LOCATION_OPTIONS, DatasetSettings

# A worker goes through many trials of few data sets; the images themselves are memory-mapped.
_NUM_KEPT = 16


def forget_datasets() -> None:
    """Later calls of `load_dataset` look at the files again, which may have changed."""
    _load.cache_clear()
    _load_with_files.cache_clear()


def load_dataset_anew(settings: DatasetSettings) -> Dataset:
    """As `load_dataset`, but every byte is read, whatever sizes and times of files say."""
    forget_datasets()
    with read_anew():
        return load_dataset(settings, None)


def load_dataset(settings: DatasetSettings, cache_folder: str | None) -> Dataset:
    """The data set, made if need be; the same object for equal settings until `forget_datasets`.

    Args:
        settings: name and options.
        cache_folder: where rendered images are kept; None means ``podium`` below
            ``$XDG_CACHE_HOME``, or below ``~/.cache`` where that is not set.

    Raises:
        TrialInputError: no such data set, an option is unknown or out of range, the data are not
            there, a file beside them does not fit, or the cache folder cannot be written.
    """
    folder = cache_folder_at(cache_folder)
    options = json.dumps(settings.own_options, sort_keys=True)
    distances, text = _file(settings, "label_distances"), _file(settings, "class_text")
    metric = _label_metric(settings)
    if distances is None and text is None:
        return _load(settings.name, options, folder)
    return _load_with_files(settings.name, options, folder, distances, metric, text)


def dataset_facts(settings: DatasetSettings) -> DatasetFacts:
    """Class and image counts without reading or rendering anything; anew if its files changed.

    Raises:
        TrialInputError: no such data set, an option is unknown or out of range, or a file is
            missing.
    """
    places = (settings.options[name] for name in LOCATION_OPTIONS if name in settings.options)
    states = tuple(_state_of(Path(str(place)).expanduser()) for place in places)
    return _facts(settings.name, json.dumps(settings.options, sort_keys=True), states)


@lru_cache(maxsize=64)  # validation and planning look them up many times
def _facts(name: str, options: str, states: tuple[tuple[int, int] | None, ...]) -> DatasetFacts:
    settings = DatasetSettings(name=name, options=json.loads(options))
    distances, _ = _file(settings, "label_distances"), _file(settings, "class_text")
    metric = _label_metric(settings)
    facts: DatasetFacts = load("datasets", settings.name).facts(settings.own_options)
    if distances is None:
        return facts
    check_label_distance_file(distances[0], facts.num_images, metric)
    kind = f" ({metric})" if metric else ""
    description = f"{facts.description}; retrieved by the label distances in {distances[0]}{kind}"
    return replace(facts, task="continuous", description=description)


def has_own_size(settings: DatasetSettings) -> bool:
    """`Dataset.has_own_size`, whether the data are on this machine or not.

    Raises:
        TrialInputError: there is no such data set.
    """
    return bool(load("datasets", settings.name).has_own_size)


# The path of a file beside the images, and its state: with another one it is read again.
_File = tuple[Path, tuple[int, int] | None]


def _file(settings: DatasetSettings, option: str) -> _File | None:
    match settings.options.get(option):
        case None:
            return None
        case str(text) if text:
            path = Path(text).expanduser()
            return path, _state_of(path)
        case other:
            raise TrialInputError(
                f"data set {settings.name}: {option} must be the path of a file; got {other!r}"
            )


def _label_metric(settings: DatasetSettings) -> LabelMetric | None:
    """The distance of label vectors that the settings name; None if they name none."""
    metric = settings.options.get("label_metric")
    if metric is None:
        return None
    if metric not in LABEL_METRICS:
        raise unknown_name("label_metric", str(metric), LABEL_METRICS)
    if settings.options.get("label_distances") is None:
        raise TrialInputError(
            f"data set {settings.name}: label_metric is the distance of the vectors in a file of "
            f"label_distances, and there is none; got {metric!r}"
        )
    return metric


def _state_of(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None  # reading it will say what is wrong
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=_NUM_KEPT)
def _load(name: str, options: str, cache_folder: Path) -> Dataset:
    dataset: Dataset = load("datasets", name).load(json.loads(options), cache_folder)
    return dataset


@lru_cache(maxsize=_NUM_KEPT)
def _load_with_files(
    name: str,
    options: str,
    cache_folder: Path,
    distances: _File | None,
    metric: LabelMetric | None,
    text: _File | None,
) -> Dataset:
    dataset = _load(name, options, cache_folder)
    if distances is not None:
        labels = read_label_distances(distances[0], len(dataset.labels), metric)
        dataset = dataset.with_label_distances(labels)
    if text is not None:
        vectors = read_class_text(text[0], dataset.train_class_names)
        dataset = dataset.with_class_text(vectors)
    return dataset
