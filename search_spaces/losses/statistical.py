"""Search spaces of the statistical loss."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "pair"
NEEDS = frozenset({"balanced", "normalised", "several_views"})
SOURCE = "Chen and Salman 2011, Speaker-Specific Information with a Regularized Siamese Network"

PARAMETERS = {
    "mean_scale": Parameter(
        default=0.3, low=1e-4, high=1e4, unit="squared distance", source="own"
    ),
    "covariance_scale": Parameter(
        default=1.0, low=1e-4, high=1e4, unit="squared distance", source="own"
    ),
}

JOINT = Space(
    {
        "mean_scale": Real(0.1, 10.0, log=True, unit="squared distance", source="own"),
        "covariance_scale": Real(0.001, 10.0, log=True, unit="squared distance", source="own"),
    }
)
