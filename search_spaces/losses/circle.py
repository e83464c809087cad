"""Search spaces of the circle loss."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="tuple",
    source="Sun et al. 2020, Circle Loss: a Unified Perspective of Pair Similarity Optimization",
    joint={"gamma": Real(16.0, 512.0, log=True), "margin": Real(0.0, 0.7)},
)
