"""Search spaces of ProxyGML."""

from search_spaces.parameters import Int, Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "PUBLISHED_TRAINING", "SOURCE"]

KIND = "proxy"
NEEDS = frozenset({"normalised", "proxies"})
SOURCE = "Zhu et al. 2020, Fewer is More"

PARAMETERS = {
    "subproxies": Parameter(default=12, low=1, high=100, kind="int", source="authors' code, CUB"),
    "ratio": Parameter(default=0.05, low=1e-4, high=1.0, source="authors' code, CUB"),
    "regulariser": Parameter(default=0.3, low=0.0, high=100.0, source="authors' code, CUB"),
}

PUBLISHED_TRAINING = {"proxy_learning_rate": 3e-2}  # authors' code, CUB

JOINT = Space(
    {
        "subproxies": Int(1, 16, log=True, source="own"),
        "ratio": Real(0.01, 0.3, log=True, source="own"),
        "regulariser": Real(0.0, 1.0, source="own"),
    }
)
