"""Search spaces of the triplet loss between labels within a threshold and all others."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="continuous",
    source="Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision, and their code",
    family=Family(
        "triplet",
        differs="labels within a threshold against all others; one anchor a batch, no mining",
    ),
    # Of label distances from 0 to 1, such as 1 - IoU.
    joint={"margin": Real(3e-3, 1.0, log=True), "threshold": Real(0.1, 0.9)},
)
