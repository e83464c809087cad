"""Search spaces of the proxy-NCA loss."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "PUBLISHED_TRAINING", "SOURCE"]

KIND = "proxy"
NEEDS = frozenset({"normalised", "proxies"})
SOURCE = "Movshovitz-Attias et al. 2017, No Fuss Distance Metric Learning using Proxies"

PARAMETERS = {
    "scale": Parameter(default=1.0, low=1e-3, high=1e3, unit="1/squared distance", source="paper"),
}

PUBLISHED_TRAINING = {"proxy_learning_rate": 1e-5}  # thesis table 4

JOINT = Space({"scale": Real(1.0, 64.0, log=True, unit="1/squared distance", source="own")})
