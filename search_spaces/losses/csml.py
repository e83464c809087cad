"""Search spaces of cosine similarity metric learning."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="pair",
    source="Nguyen and Bai 2010, Cosine Similarity Metric Learning for Face Verification",
    joint={"negative_weight": Real(0.1, 10.0, log=True)},
)
