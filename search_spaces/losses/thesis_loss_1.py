"""Search spaces of the thesis's first loss of its own."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "proxy"
NEEDS = frozenset({"normalised", "proxies"})
SOURCE = "Psomas 2020, Metric Learning: A Deep Dive, equation 6.1"

PARAMETERS = {
    "alpha": Parameter(default=32.0, low=1e-3, high=1e3, unit="1/cosine", source="thesis"),
    "margin": Parameter(default=0.1, low=0.0, high=1.0, unit="cosine", source="thesis"),
}

JOINT = Space(
    {
        "alpha": Real(4.0, 100.0, log=True, unit="1/cosine", source="own"),
        "margin": Real(0.0, 0.5, unit="cosine", source="own"),
    }
)
