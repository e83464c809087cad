"""KEY=VALUE on the command line, with a YAML scalar as the value."""

from contextlib import suppress

import yaml

from podium.errors import PodiumError
from podium.trainables.settings.training_settings import HyperparameterValue


def assignment(text: str) -> tuple[str, HyperparameterValue]:
    """Name and value of one ``--set``; text that reads as a number is a float.

    Raises:
        PodiumError: ``text`` is not KEY=VALUE, or the value is no scalar.
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise PodiumError(f"--set takes KEY=VALUE; got {text!r}")
    try:
        parsed = yaml.safe_load(value)
    except yaml.YAMLError:
        parsed = None
    if not isinstance(parsed, bool | int | float | str):
        raise PodiumError(f"--set {name} takes a number, a word, true or false; got {value!r}")
    if isinstance(parsed, str):
        with suppress(ValueError):
            parsed = float(parsed)  # YAML reads 1e-3 as text
    return name, parsed
