"""Search spaces of the cosine pair-wise loss."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "pair"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Duffner et al. 2021, Similarity Metric Learning, cosine pair-wise loss"

PARAMETERS = {
    "target_negative": Parameter(
        default=-1.0, low=-1.0, high=0.0, unit="cosine", source="Duffner et al. 2021"
    ),
}

JOINT = Space({"target_negative": Real(-1.0, 0.0, unit="cosine", source="own")})
