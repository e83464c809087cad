"""Search spaces of the polar sine loss."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "tuple"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Berlemont et al. 2016, Polar Sine Based Siamese Neural Network for Gesture Recognition"

PARAMETERS = {
    "negative_weight": Parameter(default=1.0, low=1e-3, high=1e3, source="paper"),
}

JOINT = Space({"negative_weight": Real(0.1, 10.0, log=True, source="own")})
