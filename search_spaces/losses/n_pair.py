"""Search spaces of the N-pair loss."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "tuple"
NEEDS = frozenset({"balanced"})
SOURCE = "Sohn 2016, Improved Deep Metric Learning with Multi-class N-pair Loss Objective"

PARAMETERS = {
    "norm_weight": Parameter(
        default=0.02, low=0.0, high=100.0, unit="1/length", source="thesis table 4: l2"
    ),
}

JOINT = Space({"norm_weight": Real(1e-4, 1e-1, log=True, unit="1/length", source="own")})
