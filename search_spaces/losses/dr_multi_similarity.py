"""Search spaces of the direction-regularised multi-similarity loss."""

from search_spaces.losses import multi_similarity
from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="pair",
    source="Mohan et al. 2020, Moving in the Right Direction: a Regularization for DML",
    family=Family(
        "multi_similarity",
        differs="multi_similarity that spares negatives in the direction of the positive",
    ),
    joint={**multi_similarity.SPACES.joint, "gamma": Real(0.01, 1.0, log=True)},
)
