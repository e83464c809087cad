"""Search spaces of the quadruplet loss."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="Chen et al. 2017, Beyond Triplet Loss: a Deep Quadruplet Network",
    joint={"triplet_margin": Real(0.0, 1.0), "quadruplet_margin": Real(0.0, 1.0)},
)
