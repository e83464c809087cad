"""Lefebvre's triplet loss has nothing to search."""

from search_spaces.parameters import LossSpaces

SPACES = LossSpaces(
    kind="triplet",
    source="Lefebvre and Garcia 2013, as in Duffner et al. 2021, Similarity Metric Learning",
)
