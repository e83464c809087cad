"""Search spaces of smooth average precision."""

from search_spaces.parameters import LossSpaces, Real

SPACES = LossSpaces(
    kind="ranking",
    source="Brown et al. 2020, Smooth-AP: Smoothing the Path Towards Large-Scale Image Retrieval",
    joint={"temperature": Real(3e-3, 0.3, log=True)},
)
