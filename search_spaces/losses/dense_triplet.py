"""Search spaces of the dense triplet loss."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "continuous"
NEEDS = frozenset({"label_distances", "normalised"})
SOURCE = "Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision, equation 1"

PARAMETERS = {
    "margin": Parameter(default=0.03, low=0.0, high=4.0, unit="squared distance", source="paper"),
}

JOINT = Space({"margin": Real(3e-3, 1.0, log=True, unit="squared distance", source="own")})
