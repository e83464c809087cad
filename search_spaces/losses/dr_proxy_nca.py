"""Search spaces of direction-regularised proxy-NCA."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "proxy"
NEEDS = frozenset({"normalised", "proxies"})
SOURCE = "Mohan et al. 2020, Moving in the Right Direction"

PARAMETERS = {
    "scale": Parameter(default=1.0, low=1e-3, high=1e3, unit="1/squared distance", source="paper"),
    "gamma": Parameter(default=0.1, low=0.0, high=100.0, source="own: none is published"),
}

JOINT = Space(
    {
        "scale": Real(1.0, 64.0, log=True, unit="1/squared distance", source="own"),
        "gamma": Real(0.01, 1.0, log=True, source="own"),
    }
)
