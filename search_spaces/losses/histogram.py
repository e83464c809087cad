"""Search spaces of the histogram loss."""

from search_spaces.parameters import Int, Parameter, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "pair"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Ustinova and Lempitsky 2016, Learning Deep Embeddings with Histogram Loss"

PARAMETERS = {
    "bins": Parameter(
        default=100,
        low=1,
        high=1000,
        kind="int",
        unit="intervals",
        source="pytorch-metric-learning",
    ),
}

JOINT = Space({"bins": Int(25, 200, log=True, unit="intervals", source="own")})
