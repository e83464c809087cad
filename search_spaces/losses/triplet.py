"""Search spaces of the triplet loss on cosines."""

from search_spaces.losses._miners import TRIPLET_MINERS
from search_spaces.parameters import Choice, Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "triplet"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Psomas 2020, Metric Learning: A Deep Dive, equation 2.17 with the mining of 2.20"

PARAMETERS = {
    "margin": Parameter(default=0.1, low=-2.0, high=2.0, unit="cosine", source="thesis table 4"),
    "miner": Parameter(
        default="semihard_hardest",
        kind="choice",
        choices=TRIPLET_MINERS,
        source="thesis equation 2.20",
    ),
}

JOINT = Space(
    {
        "margin": Real(0.01, 0.5, unit="cosine", source="own"),
        "miner": Choice(TRIPLET_MINERS, source="own"),
    }
)
