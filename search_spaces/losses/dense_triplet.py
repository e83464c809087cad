"""Search spaces of the dense triplet loss."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="continuous",
    source="Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision, equation 1",
    family=Family(
        "triplet",
        differs="by distance of labels, not by class; one anchor a batch, no mining",
    ),
    joint={"margin": Real(3e-3, 1.0, log=True)},
)
