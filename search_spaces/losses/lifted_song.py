"""Search spaces of the lifted structure loss as first published."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "tuple"
NEEDS = frozenset({"balanced"})
SOURCE = "Song et al. 2016, Deep Metric Learning via Lifted Structured Feature Embedding"

PARAMETERS = {
    "margin": Parameter(default=1.0, low=0.0, high=10.0, unit="distance", source="paper"),
}

JOINT = Space({"margin": Real(0.2, 2.0, unit="distance", source="own")})
