"""Search spaces of the probability-driven loss."""

from search_spaces.parameters import Parameter, Real, Space

__all__ = ["JOINT", "KIND", "NEEDS", "PARAMETERS", "SOURCE"]

KIND = "pair"
NEEDS = frozenset({"balanced", "normalised", "proxies"})
SOURCE = "Nair and Hinton 2010, Rectified Linear Units Improve Restricted Boltzmann Machines"

PARAMETERS = {
    "initial_scale": Parameter(default=10.0, low=1e-3, high=1e3, unit="1/cosine", source="own"),
    "initial_offset": Parameter(default=-5.0, low=-1e3, high=1e3, source="own"),
}

JOINT = Space(
    {
        "initial_scale": Real(1.0, 50.0, log=True, unit="1/cosine", source="own"),
        "initial_offset": Real(-20.0, 0.0, source="own"),
    }
)
