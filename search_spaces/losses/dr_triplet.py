"""Search spaces of the direction-regularised triplet loss."""

from search_spaces.losses import triplet_l2
from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = triplet_l2.KIND
NEEDS = triplet_l2.NEEDS
SOURCE = "Mohan et al. 2020, Moving in the Right Direction: a Regularization for DML"

# The paper gives no weight of the direction.
_GAMMA = Parameter(default=0.1, low=0.0, high=10.0, unit="squared distance", source="own")

PARAMETERS = {
    "margin": triplet_l2.PARAMETERS["margin"],
    "gamma": _GAMMA,
    "miner": triplet_l2.PARAMETERS["miner"],
}

JOINT = Space(
    {
        **triplet_l2.JOINT.parameters,
        "gamma": Real(0.01, 1.0, log=True, unit="squared distance", source="own"),
    }
)
