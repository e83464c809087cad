"""Search spaces of cosine similarity metric learning."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "pair"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Nguyen and Bai 2010, Cosine Similarity Metric Learning for Face Verification"

PARAMETERS = {
    "negative_weight": Parameter(default=1.0, low=1e-3, high=1e3, source="paper"),
}

JOINT = Space({"negative_weight": Real(0.1, 10.0, log=True, source="own")})
