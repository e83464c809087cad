"""Search spaces of the quadruplet loss."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "tuple"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Chen et al. 2017, Beyond Triplet Loss: a Deep Quadruplet Network"

_MARGIN = Parameter(
    default=0.2, low=-4.0, high=4.0, unit="squared distance", source="Roth et al. 2020"
)

PARAMETERS = {"triplet_margin": _MARGIN, "quadruplet_margin": _MARGIN}

JOINT = Space(
    {
        "triplet_margin": Real(0.0, 1.0, unit="squared distance", source="own"),
        "quadruplet_margin": Real(0.0, 1.0, unit="squared distance", source="own"),
    }
)
