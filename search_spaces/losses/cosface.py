"""Search spaces of CosFace."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "proxy"
NEEDS = frozenset({"normalised", "proxies"})
SOURCE = "Wang et al. 2018, CosFace: Large Margin Cosine Loss, equation 4"

PARAMETERS = {
    "margin": Parameter(default=0.35, low=0.0, high=1.0, unit="cosine", source="paper"),
    "scale": Parameter(default=64.0, low=1e-3, high=1e3, unit="1/cosine", source="paper"),
}

JOINT = Space(
    {
        "margin": Real(0.0, 1.0, unit="cosine", source="own"),
        "scale": Real(8.0, 256.0, log=True, unit="1/cosine", source="own"),
    }
)
