"""Search spaces of the direction-regularised multi-similarity loss."""

from search_spaces.losses import multi_similarity
from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = multi_similarity.KIND
NEEDS = multi_similarity.NEEDS
SOURCE = "Mohan et al. 2020, Moving in the Right Direction: a Regularization for DML"

# The paper gives no weight of the direction.
PARAMETERS = {
    **multi_similarity.PARAMETERS,
    "gamma": Parameter(default=0.1, low=0.0, high=10.0, unit="cosine", source="own"),
}

JOINT = Space(
    {
        **multi_similarity.JOINT.parameters,
        "gamma": Real(0.01, 1.0, log=True, unit="cosine", source="own"),
    }
)
