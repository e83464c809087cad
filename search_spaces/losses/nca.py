"""Search spaces of neighbourhood components analysis."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "tuple"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Goldberger et al. 2004, Neighbourhood Components Analysis, section 2"

PARAMETERS = {
    "softmax_scale": Parameter(
        default=1.0, low=1e-3, high=1e3, unit="1/squared distance", source="paper"
    ),
}

JOINT = Space(
    {"softmax_scale": Real(1.0, 64.0, log=True, unit="1/squared distance", source="own")}
)
