"""Search spaces of the contrastive loss on distances."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "REALITY_CHECK", "SOURCE"]

KIND = "pair"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Hadsell et al. 2006, Dimensionality Reduction by Learning an Invariant Mapping"

PARAMETERS = {
    "positive_margin": Parameter(default=0.0, low=-2.0, high=2.0, unit="distance", source="paper"),
    "negative_margin": Parameter(default=1.0, low=-2.0, high=2.0, unit="distance", source="paper"),
}

JOINT = Space(
    {
        "positive_margin": Real(0.0, 0.8, unit="distance", source="own"),
        "negative_margin": Real(0.1, 1.5, unit="distance", source="own"),
    }
)

# The hinges were not squared there.
REALITY_CHECK = Space(
    {
        "positive_margin": Real(-0.2, 2.0, unit="distance", source="reality check (MLRC)"),
        "negative_margin": Real(-0.2, 2.0, unit="distance", source="reality check (MLRC)"),
    }
)
