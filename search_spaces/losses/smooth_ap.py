"""Search spaces of smooth average precision."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "ranking"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Brown et al. 2020, Smooth-AP: Smoothing the Path Towards Large-Scale Image Retrieval"

PARAMETERS = {
    "temperature": Parameter(default=0.01, low=1e-4, high=10.0, unit="cosine", source="paper"),
}

JOINT = Space({"temperature": Real(3e-3, 0.3, log=True, unit="cosine", source="own")})
