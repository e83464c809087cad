"""Search spaces of the similarity loss over pairs of pairs."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "tuple"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Yih et al. 2011, Learning Discriminative Projections for Text Similarity Measures"

PARAMETERS = {
    "gamma": Parameter(default=10.0, low=1e-3, high=1e3, unit="1/cosine", source="own"),
}

JOINT = Space({"gamma": Real(1.0, 100.0, log=True, unit="1/cosine", source="own")})
