"""Data sets by their settings."""

import json
import os
from functools import lru_cache
from pathlib import Path

from trainables.datasets._base import Dataset, DatasetFacts
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
            there, or the cache folder cannot be written.
    """
    folder = Path(cache_folder) if cache_folder is not None else _default_cache_folder()
    return _load(settings.name, json.dumps(dict(settings.options), sort_keys=True), folder)


def dataset_facts(settings: DatasetSettings) -> DatasetFacts:
    """Class and image counts without reading or rendering anything.

    Raises:
        TrialInputError: no such data set, or an option is unknown or out of range.
    """
    facts: DatasetFacts = load("datasets", settings.name).facts(settings.options)
    return facts


@lru_cache(maxsize=_NUM_KEPT)
def _load(name: str, options: str, cache_folder: Path) -> Dataset:
    dataset: Dataset = load("datasets", name).load(json.loads(options), cache_folder)
    return dataset


def _default_cache_folder() -> Path:
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "podium"
