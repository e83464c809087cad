"""Search spaces of the triangular similarity loss, which has no hyperparameter."""

from search_spaces.parameters import Parameter, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "pair"
NEEDS = frozenset({"balanced"})
SOURCE = "Zheng et al. 2015, Triangular Similarity Metric Learning for Face Verification"

PARAMETERS: dict[str, Parameter] = {}

JOINT = Space({})
