"""Search spaces of the quadruplet loss."""

from search_spaces.parameters import Family, LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="Chen et al. 2017, Beyond Triplet Loss: a Deep Quadruplet Network",
    family=Family(
        "quadruplet",
        differs="triplets and pairs without a common image, two hinges on squared distances",
    ),
    joint={"triplet_margin": Real(0.0, 1.0), "quadruplet_margin": Real(0.0, 1.0)},
)
