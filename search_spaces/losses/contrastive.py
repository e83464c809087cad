"""Search spaces of the contrastive loss on cosines."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "pair"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Psomas 2020, Metric Learning: A Deep Dive, equation 2.15 (Hadsell et al. 2006)"

PARAMETERS = {
    "margin": Parameter(default=0.5, low=-1.0, high=1.0, unit="cosine", source="thesis table 4"),
}

JOINT = Space({"margin": Real(0.0, 1.0, unit="cosine", source="own")})
