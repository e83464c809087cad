"""Search spaces of the triplet loss on cosines."""

from search_spaces.parameters import Every, Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="triplet",
    source="Psomas 2020, Metric Learning: A Deep Dive, equation 2.17 with the mining of 2.20",
    family=Family(
        "triplet",
        differs="by class, hinge on cosines of mined triplets; the thesis's form",
    ),
    joint={"margin": Real(0.01, 0.5), "miner": Every()},
)
