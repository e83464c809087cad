"""Search spaces of the cosine pair-wise loss."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="pair",
    source="Duffner et al. 2021, Similarity Metric Learning, cosine pair-wise loss",
    joint={"target_negative": Real(-1.0, 0.0)},
)
