"""Search spaces of the direction-regularised triplet loss."""

from search_spaces.losses import triplet_l2
from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="triplet",
    source="Mohan et al. 2020, Moving in the Right Direction: a Regularization for DML",
    family=Family(
        "triplet",
        differs="triplet_l2 that spares negatives in the direction of the positive",
    ),
    joint={**triplet_l2.SPACES.joint, "gamma": Real(0.01, 1.0, log=True)},
)
