"""Search spaces of the ProxyNCA++ loss."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "proxy"
NEEDS = frozenset({"normalised", "proxies"})
SOURCE = "Teh et al. 2020, ProxyNCA++: Revisiting and Revitalizing Proxy NCA"

PARAMETERS = {
    "scale": Parameter(default=9.0, low=1e-3, high=1e3, unit="1/squared distance", source="paper"),
}

JOINT = Space({"scale": Real(1.0, 64.0, log=True, unit="1/squared distance", source="own")})
