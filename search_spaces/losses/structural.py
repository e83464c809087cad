"""Search spaces of the structural loss."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "tuple"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Duffner et al. 2021, Similarity Metric Learning, structural loss of Yang et al."

_SQUARE = "squared distance"
_VARIANCE = "(squared distance)^2"

PARAMETERS = {
    "margin": Parameter(default=0.2, low=0.0, high=4.0, unit=_SQUARE, source="own"),
    "temperature": Parameter(default=0.5, low=1e-3, high=1e3, unit=_SQUARE, source="own"),
    "variance_weight": Parameter(default=1.0, low=0.0, high=1e3, source="own"),
    "positive_variance": Parameter(default=0.05, low=0.0, high=4.0, unit=_VARIANCE, source="own"),
    "negative_variance": Parameter(default=0.05, low=0.0, high=4.0, unit=_VARIANCE, source="own"),
}

JOINT = Space(
    {
        "margin": Real(0.0, 1.0, unit=_SQUARE, source="own"),
        "temperature": Real(0.1, 1.0, log=True, unit=_SQUARE, source="own"),
        "variance_weight": Real(0.01, 10.0, log=True, source="own"),
        "positive_variance": Real(0.001, 0.5, log=True, unit=_VARIANCE, source="own"),
        "negative_variance": Real(0.001, 0.5, log=True, unit=_VARIANCE, source="own"),
    }
)
