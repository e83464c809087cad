"""Facts of data sets, cached, since validation and planning look them up many times."""

import json
from functools import lru_cache
from pathlib import Path

from podium.trainables.dataset_interface import load_dataset
from podium.trainables.dataset_interface.dataset import DatasetFacts
from podium.trainables.settings.trial_settings import LOCATION_OPTIONS, DatasetSettings


def dataset_facts(settings: DatasetSettings) -> DatasetFacts:
    """Counts and other facts known without any image; read again if its files changed.

    Raises:
        TrialInputError: no such data set, an option is unknown or out of range, or a file is
            missing.
    """
    states = tuple(_state_of(settings.options.get(place)) for place in LOCATION_OPTIONS)
    return _facts(settings.name, json.dumps(settings.options, sort_keys=True), states)


def _state_of(place: object) -> tuple[int, int] | None:
    """Modification time and size of a file or folder; None if there is none."""
    if place is None:
        return None
    try:
        status = Path(str(place)).expanduser().stat()
    except OSError:  # reading it will say what is wrong
        return None
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=64)
def _facts(name: str, options: str, states: tuple[tuple[int, int] | None, ...]) -> DatasetFacts:
    return load_dataset.dataset_facts(DatasetSettings(name=name, options=json.loads(options)))
