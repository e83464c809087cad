"""Search spaces of the triplet loss on squared distances."""

from search_spaces.losses._miners import TRIPLET_MINERS
from search_spaces.parameters import Choice, Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "REALITY_CHECK", "SOURCE"]

KIND = "triplet"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Schroff et al. 2015, FaceNet: A Unified Embedding for Face Recognition and Clustering"

PARAMETERS = {
    "margin": Parameter(default=0.2, low=-4.0, high=4.0, unit="squared distance", source="paper"),
    "miner": Parameter(
        default="semihard_hardest",
        kind="choice",
        choices=TRIPLET_MINERS,
        source="thesis equation 2.20",
    ),
}

JOINT = Space(
    {
        "margin": Real(0.02, 1.0, unit="squared distance", source="own"),
        "miner": Choice(TRIPLET_MINERS, source="own"),
    }
)

# The distances were not squared there.
REALITY_CHECK = Space(
    {"margin": Real(-0.2, 2.0, unit="squared distance", source="reality check (MLRC)")}
)
