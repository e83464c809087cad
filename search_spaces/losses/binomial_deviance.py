"""Search spaces of the binomial deviance loss."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "pair"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Yi et al. 2014, Deep Metric Learning for Practical Person Re-Identification"

PARAMETERS = {
    "alpha": Parameter(default=2.0, low=1e-3, high=1e3, unit="1/cosine", source="paper"),
    "margin": Parameter(default=0.5, low=-1.0, high=1.0, unit="cosine", source="paper"),
    "negative_weight": Parameter(
        default=25.0, low=1e-3, high=1e3, source="Opitz et al. 2018 (BIER)"
    ),
}

JOINT = Space(
    {
        "alpha": Real(1.0, 10.0, log=True, unit="1/cosine", source="own"),
        "margin": Real(0.0, 1.0, unit="cosine", source="own"),
        "negative_weight": Real(1.0, 50.0, log=True, source="own"),
    }
)
