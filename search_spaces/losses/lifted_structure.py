"""Search spaces of the generalised lifted structure loss."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "tuple"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Psomas 2020, Metric Learning: A Deep Dive, equation 2.21 (Hermans et al. 2017)"

PARAMETERS = {
    "margin": Parameter(default=0.5, low=-10.0, high=10.0, unit="cosine", source="thesis table 4"),
}

JOINT = Space({"margin": Real(0.0, 1.0, unit="cosine", source="own")})
