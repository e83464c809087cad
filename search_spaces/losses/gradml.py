"""Search spaces of the GradML loss."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "tuple"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "GradML, equation 11"

PARAMETERS = {
    "k": Parameter(default=2.0, low=1.0, high=8.0, source="paper"),
    "w": Parameter(default=1.0, low=0.0, high=100.0, source="paper"),
}

JOINT = Space(
    {
        "k": Real(1.0, 4.0, source="own"),
        "w": Real(0.5, 2.0, log=True, source="own"),
    }
)
