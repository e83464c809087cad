"""Search spaces of the thesis's second loss of its own."""

from search_spaces.parameters import Choice, Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "proxy"
NEEDS = frozenset({"normalised", "proxies"})
SOURCE = "Psomas 2020, Metric Learning: A Deep Dive, equation 6.2"

PARAMETERS = {
    "alpha": Parameter(default=32.0, low=1e-3, high=1e3, unit="1/cosine", source="thesis"),
    "margin": Parameter(default=0.1, low=0.0, high=1.0, unit="cosine", source="thesis"),
    "mean_over_batch": Parameter(default=False, kind="bool", source="thesis"),
}

# Down to smaller alphas than proxy-anchor's, since sums over a batch are larger than cosines.
JOINT = Space(
    {
        "alpha": Real(1.0, 64.0, log=True, unit="1/cosine", source="own"),
        "margin": Real(0.0, 0.5, unit="cosine", source="own"),
        "mean_over_batch": Choice((False, True), source="own"),
    }
)
