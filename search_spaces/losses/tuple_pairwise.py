"""Search spaces of the pairwise loss on tuples."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "tuple"
NEEDS = frozenset({"balanced"})
SOURCE = "Berlemont et al. 2017, Class-Balanced Siamese Neural Networks"

PARAMETERS = {
    "norm_weight": Parameter(default=1.0, low=0.0, high=1e3, source="paper"),
}

JOINT = Space({"norm_weight": Real(0.01, 10.0, log=True, source="own")})
