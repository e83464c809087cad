"""Data sets by their settings."""

import json
import os
from functools import lru_cache
from pathlib import Path

from trainables.class_text import read_class_text
from trainables.datasets._base import Dataset, DatasetFacts
from trainables.errors import TrialInputError
from trainables.registry import load
from trainables.settings import DatasetSettings

__all__ = ["dataset_facts", "load_dataset"]

# A worker goes through many trials of few data sets; the images themselves are memory-mapped.
_NUM_KEPT = 16


def load_dataset(settings: DatasetSettings, cache_folder: str | None) -> Dataset:
    """The data set, made if need be; the same object again for the same settings.

    Args:
        settings: name and options.
        cache_folder: where rendered images are kept; None means ``podium`` below
            ``$XDG_CACHE_HOME``, or below ``~/.cache`` where that is not set.

    Raises:
        TrialInputError: no such data set, an option is unknown or out of range, the data are not
            there, the class text does not fit, or the cache folder cannot be written.
    """
    folder = Path(cache_folder) if cache_folder is not None else _default_cache_folder()
    text = _class_text_file(settings)
    options = json.dumps(settings.own_options, sort_keys=True)
    if text is None:
        return _load(settings.name, options, folder)
    return _load_with_text(settings.name, options, folder, text, _state_of(text))


def dataset_facts(settings: DatasetSettings) -> DatasetFacts:
    """Class and image counts without reading or rendering anything.

    Raises:
        TrialInputError: no such data set, or an option is unknown or out of range.
    """
    _class_text_file(settings)
    facts: DatasetFacts = load("datasets", settings.name).facts(settings.own_options)
    return facts


@lru_cache(maxsize=_NUM_KEPT)
def _load(name: str, options: str, cache_folder: Path) -> Dataset:
    dataset: Dataset = load("datasets", name).load(json.loads(options), cache_folder)
    return dataset


@lru_cache(maxsize=_NUM_KEPT)
def _load_with_text(
    name: str, options: str, cache_folder: Path, text: Path, state: tuple[int, int] | None
) -> Dataset:
    """``state`` is that of the file, so that another content is read again."""
    dataset = _load(name, options, cache_folder)
    return dataset.with_class_text(read_class_text(text, dataset.train_class_names))


def _class_text_file(settings: DatasetSettings) -> Path | None:
    match settings.options.get("class_text"):
        case None:
            return None
        case str(path) if path:
            return Path(path)
        case other:
            raise TrialInputError(
                f"data set {settings.name}: class_text must be the path of a file; got {other!r}"
            )


def _state_of(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None  # reading it will say what is wrong
    return status.st_mtime_ns, status.st_size


def _default_cache_folder() -> Path:
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "podium"
