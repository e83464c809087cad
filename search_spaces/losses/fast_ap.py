"""Search spaces of FastAP."""

from search_spaces.parameters import Int, Parameter, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "REALITY_CHECK", "SOURCE"]

KIND = "ranking"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Cakir et al. 2019, Deep Metric Learning to Rank"

PARAMETERS = {
    "bins": Parameter(
        default=10,
        low=1,
        high=1000,
        kind="int",
        unit="intervals",
        source="pytorch-metric-learning",
    ),
}

JOINT = Space({"bins": Int(5, 64, unit="intervals", source="own")})

REALITY_CHECK = Space({"bins": Int(2, 250, unit="intervals", source="reality check (MLRC)")})
