"""Search spaces of the circle loss."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "tuple"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Sun et al. 2020, Circle Loss: a Unified Perspective of Pair Similarity Optimization"

PARAMETERS = {
    "gamma": Parameter(default=80.0, low=1e-3, high=1e4, unit="1/cosine^2", source="paper"),
    "margin": Parameter(default=0.4, low=0.0, high=1.0, unit="cosine", source="paper"),
}

JOINT = Space(
    {
        "gamma": Real(16.0, 512.0, log=True, unit="1/cosine^2", source="own"),
        "margin": Real(0.0, 0.7, unit="cosine", source="own"),
    }
)
