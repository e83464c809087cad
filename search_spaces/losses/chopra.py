"""Search spaces of Chopra's energy loss."""

from search_spaces.parameters import Choice, Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "pair"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "Chopra et al. 2005, Learning a Similarity Metric Discriminatively"

PARAMETERS = {
    "distance": Parameter(default="l1", kind="choice", choices=("l1", "l2"), source="paper"),
    "decay": Parameter(default=2.77, low=1e-2, high=1e2, source="paper"),
}

JOINT = Space(
    {
        "distance": Choice(("l1", "l2"), source="own"),
        "decay": Real(1.0, 20.0, log=True, source="own"),
    }
)
