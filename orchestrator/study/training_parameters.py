"""Hyperparameters of the training recipe that searches may vary, and ranges around them."""

from dataclasses import replace

from podium.search_spaces.parameters import Int, Real, Value
from podium.search_spaces.training_parameters import RATES, TRAINING_SPACES
from podium.trainables.settings.legal_ranges import Interval, Parameter
from podium.trainables.settings.training_settings import LEGAL_VALUES, TrainingSettings

_DEFAULT = TrainingSettings()

TRAINING_PARAMETERS: dict[str, Parameter] = {
    name: Parameter(getattr(_DEFAULT, name), LEGAL_VALUES[name], unit=tried.unit, source="own")
    for name, tried in TRAINING_SPACES.items()
}
"""Defaults belong to podium's own small network; a study states its own for others."""

_SMALLEST_RATE = 1e-12  # a smaller one changes no weight, and ranges around it end in 0


def space_around(name: str, value: Value) -> Real | Int:
    """The range of a training parameter where a recipe has ``value``.

    Rates range from a tenth to thirty times the recipe's, as far as that is legal; a rate that is
    0, or as good as, and everything else have the range in `TRAINING_SPACES`.
    """
    standard = TRAINING_SPACES[name]
    if name not in RATES or float(value) < _SMALLEST_RATE or not isinstance(standard, Real):
        return standard
    factor = float(value) / getattr(_DEFAULT, name)
    legal = TRAINING_PARAMETERS[name].legal
    assert isinstance(legal, Interval)
    high = min(standard.high * factor, legal.high)
    return replace(standard, low=standard.low * factor, high=high)
