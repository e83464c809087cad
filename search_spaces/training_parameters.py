"""Hyperparameters of the training recipe that a study may search besides those of the loss."""

from dataclasses import replace

from search_spaces.parameters import Int, Parameter, Real, Value

__all__ = ["PROXY_PARAMETERS", "RATES", "TRAINING_PARAMETERS", "TRAINING_SPACES", "space_around"]

# Of the loss's own parameters: without effect on a loss that has none.
PROXY_PARAMETERS = ("proxy_learning_rate", "proxy_weight_decay")

_DECAY = "per step and learning rate"

# Defaults belong to podium's own small network; a study states its own for others.
TRAINING_PARAMETERS: dict[str, Parameter] = {
    "learning_rate": Parameter(
        default=1e-3, low=0.0, high=1.0, low_inclusive=False, unit="per step", source="own"
    ),
    "head_learning_rate_factor": Parameter(
        default=1.0, low=0.0, high=1e4, low_inclusive=False, unit="of the backbone's", source="own"
    ),
    "proxy_learning_rate": Parameter(
        default=1e-2, low=0.0, high=10.0, unit="per step", source="own"
    ),
    "weight_decay": Parameter(default=1e-4, low=0.0, high=1.0, unit=_DECAY, source="own"),
    "proxy_weight_decay": Parameter(default=0.0, low=0.0, high=1.0, unit=_DECAY, source="own"),
    "step_factor": Parameter(
        default=0.1, low=0.0, high=1.0, low_inclusive=False, unit="per step_epochs", source="own"
    ),
    "warm_up_epochs": Parameter(
        default=0, low=0, high=1000, kind="int", unit="epochs", source="own"
    ),
}

# Rates that suit a network are around those of its recipe: a tenth to thirty times them.
RATES = ("learning_rate", "proxy_learning_rate")
_SMALLEST_RATE = 1e-12  # a smaller one changes no weight, and ranges around it end in 0

# Around the defaults, so for podium's own small network: on glyphs Recall@1 peaks at a learning
# rate of 3e-3 to 1e-2 and a proxy learning rate of 3e-2.
TRAINING_SPACES: dict[str, Real | Int] = {
    "learning_rate": Real(1e-4, 3e-2, log=True, unit="per step", source="own"),
    # 1 in published code; a fresh layer on a trained backbone bears more.
    "head_learning_rate_factor": Real(
        1.0, 100.0, log=True, unit="of the backbone's", source="own"
    ),
    "proxy_learning_rate": Real(1e-3, 3e-1, log=True, unit="per step", source="own"),
    "weight_decay": Real(1e-6, 1e-1, log=True, unit=_DECAY, source="own"),
    # 0 or 1e-4 in published recipes.
    "proxy_weight_decay": Real(0.0, 1e-3, unit=_DECAY, source="own"),
    # 0.1, 0.25 and 0.5 in published recipes.
    "step_factor": Real(0.1, 0.9, unit="per step_epochs", source="own"),
    # 1 for BN-Inception and 5 for ResNet-50 in published recipes; a fresh network needs none.
    "warm_up_epochs": Int(0, 5, unit="epochs", source="own"),
}


def space_around(name: str, value: Value) -> Real | Int:
    """The range of a training parameter where a recipe has ``value``.

    Rates range from a tenth to thirty times the recipe's, as far as that is legal; a rate that is
    0, or as good as, and everything else have the range in `TRAINING_SPACES`.
    """
    standard, parameter = TRAINING_SPACES[name], TRAINING_PARAMETERS[name]
    if name not in RATES or float(value) < _SMALLEST_RATE or not isinstance(standard, Real):
        return standard
    assert isinstance(parameter.default, float)
    assert parameter.high is not None
    factor = float(value) / parameter.default
    return replace(
        standard, low=standard.low * factor, high=min(standard.high * factor, parameter.high)
    )
