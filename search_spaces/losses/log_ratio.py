"""Search spaces of the log-ratio loss."""

from search_spaces.parameters import Choice, Parameter, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "continuous"
NEEDS = frozenset({"label_distances"})
SOURCE = "Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision, equation 2"

PARAMETERS = {"squared": Parameter(default=True, kind="bool", source="authors' slides")}

JOINT = Space({"squared": Choice((True, False), source="own")})
