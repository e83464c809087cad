"""Lefebvre's triplet loss has nothing to search."""

from search_spaces.parameters import Parameter, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "triplet"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Lefebvre and Garcia 2013, as in Duffner et al. 2021, Similarity Metric Learning"

PARAMETERS: dict[str, Parameter] = {}

JOINT = Space({})
