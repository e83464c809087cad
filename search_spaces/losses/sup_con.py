"""Search spaces of the supervised contrastive loss."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "tuple"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Khosla et al. 2020, Supervised Contrastive Learning, equation 2"

PARAMETERS = {
    "temperature": Parameter(default=0.1, low=1e-3, high=1e2, unit="cosine", source="paper"),
}

JOINT = Space({"temperature": Real(0.02, 0.5, log=True, unit="cosine", source="own")})
