"""Facts of data sets, asked for again and again while a study is judged and planned."""

import json
from functools import lru_cache
from pathlib import Path

from trainables.dataset_interface import load_dataset
from trainables.dataset_interface.dataset import DatasetFacts
from trainables.settings.trial_settings import PLACES, DatasetSettings

__all__ = ["dataset_facts"]


def dataset_facts(settings: DatasetSettings) -> DatasetFacts:
    """Counts and what else is known without any image; read once while the files stay.

    Raises:
        TrialInputError: no such data set, an option is unknown or out of range, or what must be
            read is not there.
    """
    states = tuple(_state_of(settings.options.get(place)) for place in PLACES)
    return _facts(settings.name, json.dumps(settings.options, sort_keys=True), states)


def _state_of(place: object) -> tuple[int, int] | None:
    """With another state it is read again."""
    try:
        status = Path(str(place)).expanduser().stat()
    except OSError:  # reading it will say what is wrong
        return None
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=64)
def _facts(name: str, options: str, states: tuple[tuple[int, int] | None, ...]) -> DatasetFacts:
    return load_dataset.dataset_facts(DatasetSettings(name=name, options=json.loads(options)))
