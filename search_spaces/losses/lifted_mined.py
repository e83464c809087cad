"""Search spaces of the lifted structure loss with mined pairs."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "tuple"
NEEDS = frozenset({"balanced", "normalised"})
SOURCE = "the code of Psomas 2020, Metric Learning: A Deep Dive"

PARAMETERS = {
    "alpha": Parameter(default=40.0, low=1e-3, high=1e3, unit="1/cosine", source="thesis code"),
    "beta": Parameter(default=2.0, low=1e-3, high=1e3, unit="1/cosine", source="thesis code"),
    "epsilon": Parameter(default=0.1, low=0.0, high=2.0, unit="cosine", source="thesis code"),
}

JOINT = Space(
    {
        "alpha": Real(5.0, 100.0, log=True, unit="1/cosine", source="own"),
        "beta": Real(0.5, 20.0, log=True, unit="1/cosine", source="own"),
        "epsilon": Real(0.0, 1.0, unit="cosine", source="own"),
    }
)
