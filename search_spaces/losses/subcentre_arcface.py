"""Search spaces of sub-centre ArcFace."""

from search_spaces.parameters import Int, Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "proxy"
NEEDS = frozenset({"normalised", "proxies"})
SOURCE = "Deng et al. 2020, Sub-center ArcFace"

PARAMETERS = {
    "centres": Parameter(default=3, low=1, high=100, kind="int", source="paper"),
    "margin_degrees": Parameter(
        default=28.6, low=0.0, high=90.0, unit="degrees", source="paper (0.5 rad)"
    ),
    "scale": Parameter(default=64.0, low=1e-3, high=1e3, unit="1/cosine", source="paper"),
}

JOINT = Space(
    {
        "centres": Int(1, 10, log=True, source="own"),
        "margin_degrees": Real(0.0, 60.0, unit="degrees", source="own"),
        "scale": Real(8.0, 256.0, log=True, unit="1/cosine", source="own"),
    }
)
