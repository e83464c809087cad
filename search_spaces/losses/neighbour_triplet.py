"""Search spaces of the triplet loss between nearest neighbours by label and all others."""

from search_spaces.parameters import Family, Int, LossSpaces, Real

SPACES = LossSpaces(
    kind="continuous",
    source="code of Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision",
    family=Family(
        "triplet",
        differs="the nearest by label against all others; one anchor a batch, no mining",
    ),
    joint={"margin": Real(3e-3, 1.0, log=True), "neighbours": Int(1, 10)},
)
