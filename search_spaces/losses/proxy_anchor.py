"""Search spaces of the proxy-anchor loss."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE", "THESIS"]

KIND = "proxy"
NEEDS = frozenset({"normalised", "proxies"})
SOURCE = "Kim et al. 2020, Proxy Anchor Loss for Deep Metric Learning, equation 4"

PARAMETERS = {
    "alpha": Parameter(default=32.0, low=1e-3, high=1e3, unit="1/cosine", source="paper"),
    "margin": Parameter(default=0.1, low=0.0, high=1.0, unit="cosine", source="paper"),
}

JOINT = Space(
    {
        "alpha": Real(4.0, 100.0, log=True, unit="1/cosine", source="own"),
        "margin": Real(0.0, 0.5, unit="cosine", source="own"),
    }
)

THESIS = Space(
    {
        "alpha": Real(2.0, 100.0, step=2.0, unit="1/cosine", source="thesis table 15"),
        "margin": Real(0.0, 1.0, step=0.1, unit="cosine", source="thesis table 15"),
    }
)
