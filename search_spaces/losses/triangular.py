"""Search spaces of the triangular similarity loss, which has no hyperparameter."""

from search_spaces.parameters import LossSpaces

SPACES = LossSpaces(
    kind="pair",
    source="Zheng et al. 2015, Triangular Similarity Metric Learning for Face Verification",
)
