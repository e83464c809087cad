"""Search spaces of the softmax loss, which has no hyperparameters."""

from search_spaces.parameters import Parameter, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "proxy"
NEEDS = frozenset({"proxies"})
SOURCE = "Psomas 2020, Metric Learning: A Deep Dive, equation 2.26"

PARAMETERS: dict[str, Parameter] = {}

JOINT = Space({})
