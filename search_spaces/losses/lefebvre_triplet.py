"""Lefebvre's triplet loss has nothing to search."""

from search_spaces.parameters import Family, LossSpaces

SPACES = LossSpaces(
    kind="triplet",
    source="Lefebvre and Garcia 2013, as in Duffner et al. 2021, Similarity Metric Learning",
    family=Family(
        "triplet",
        differs="by class, no margin or mining: squared errors to target cosines 1 and 0",
    ),
)
